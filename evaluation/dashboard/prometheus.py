"""The dashboard's numbers of the last whole week, for monitoring: one gauge a measure, by tenant."""

from answers.sampling import last_week
from tenants.scope import tenant_scope
from tenants.selectors import all_tenant_ids, current_tenant

from .weekly import measured


def pilot_lines() -> list[str]:
    lines: dict[str, list[str]] = {}
    for tenant_id in all_tenant_ids():
        with tenant_scope(tenant_id):
            slug = current_tenant().slug  # letters, digits, - and _: nothing to escape
            for series in measured([last_week()]):
                name = f"precept_week_{series.definition.measure.value}"
                if series.latest.value is not None:
                    lines.setdefault(name, []).append(
                        f'{name}{{tenant="{slug}"}} {series.latest.value}'
                    )
    return [
        line for name, values in sorted(lines.items()) for line in (f"# TYPE {name} gauge", *values)
    ]
