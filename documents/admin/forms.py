"""What somebody enters about a document, its file and its readers."""

from datetime import date

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from tenants.admin_base import PreceptForm
from tenants.models import Group, User
from tenants.selectors import NotFound, user_by_email

from ..ingestion.extraction.sniff import ENDINGS, READABLE
from ..models import Grant, LifeCycle
from ..services import Upload, check_upload

EXPLAINED = {
    "title": "As people will see it in answers.",
    "reference": "For instance HR-2024-003. People can ask for it by this code.",
    "department": "Its department administrators manage the document.",
    "owner": "Who is asked when something about the document needs a decision.",
    "life_cycle": "Only vetted and archived documents are used in answers.",
    "effective_date": "From when the policy holds; answers show it.",
    "supersede_policy": "Until then the version in force is the one that answers rely on.",
}
MODEL_FIELDS = list(EXPLAINED)


class DocumentForm(PreceptForm):
    reason = forms.CharField(
        label="Reason for the change",
        required=False,
        max_length=300,
        help_text="For a change of life-cycle; kept in the audit record.",
    )
    withdrawn_on = forms.DateField(
        label="Withdrawn on",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Only when archiving. Empty: today.",
    )
    file = forms.FileField(
        label="File",
        help_text=f"{READABLE}.",
        widget=forms.FileInput(attrs={"accept": ",".join(f".{e}" for e in ENDINGS.values())}),
    )
    file_effective_date = forms.DateField(
        label="In force from",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The former version stays in force until then. Empty: at once.",
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name in MODEL_FIELDS:
            if name in self.fields:
                self.fields[name].help_text = EXPLAINED[name]
                # What somebody did not touch is not written, whoever changed it meanwhile.
                self.fields[name].show_hidden_initial = True
        if "life_cycle" in self.fields:
            self.fields["life_cycle"].label = "Life-cycle"
        if "supersede_policy" in self.fields:
            self.fields["supersede_policy"].label = "A new version replaces it"
            choices = self.fields["supersede_policy"].choices
            self.fields["supersede_policy"].choices = [("", "As for all documents"), *choices[1:]]
        if "life_cycle" in self.fields and self.instance._state.adding:
            self.fields["life_cycle"].initial = LifeCycle.VETTED
            self.initial.setdefault("life_cycle", LifeCycle.VETTED)
        if not self.instance._state.adding and "file" in self.fields:
            self.fields["file"].label = "New version"
            self.fields["file"].required = False
            self.fields["file"].help_text = f"Leave empty to keep the present version. {READABLE}."

    def clean_file(self) -> Upload | None:
        file = self.cleaned_data["file"]
        if not file:
            return None
        file.seek(0)
        # One byte more than allowed is enough to be refused for its size.
        upload = Upload(data=file.read(settings.MAX_UPLOAD_BYTES + 1), name=file.name)
        check_upload(upload)
        return upload

    def clean(self):
        cleaned = super().clean()
        if cleaned.get("withdrawn_on") and "life_cycle" in self.fields:
            moves = self.instance._state.adding or "life_cycle" in self.changed_data
            if cleaned.get("life_cycle") != LifeCycle.ARCHIVED or not moves:
                self.add_error("withdrawn_on", "Give this date only when moving to “Archived”.")
        return cleaned


def entered_date(request) -> date:
    """The day of a version's own small form. Raises ValidationError."""
    try:
        return date.fromisoformat(request.POST.get("effective_date", ""))
    except ValueError:
        raise ValidationError("Enter the day from which the version holds.") from None


class GrantForm(PreceptForm):
    def clean(self):
        cleaned = super().clean()
        if self.has_changed() and bool(cleaned.get("group")) == bool(cleaned.get("user")):
            raise ValidationError("Choose a group or a person, one of the two in each row.")
        return cleaned


class ReasonForm(forms.Form):
    reason = forms.CharField(required=False, max_length=300, help_text="Kept in the audit record.")


class LeavingForm(ReasonForm):
    """For a move out of the vetted documents, which takes them from people's answers."""

    reason = forms.CharField(max_length=300, help_text="Kept in the audit record.")


class LifeCycleForm(LeavingForm):
    life_cycle = forms.ChoiceField(label="Life-cycle", choices=LifeCycle.choices)
    field_order = ["life_cycle", "reason"]

    def clean_life_cycle(self) -> LifeCycle:
        return LifeCycle(self.cleaned_data["life_cycle"])


class OwnerForm(forms.Form):
    owner = forms.EmailField(
        label="Owner's e-mail address",
        required=False,
        help_text="Who is asked when something about them needs a decision. Empty: nobody.",
    )

    def clean_owner(self) -> User | None:
        address = self.cleaned_data["owner"]
        try:
            return user_by_email(address) if address else None
        except NotFound as error:
            raise ValidationError(str(error)) from None


class ArchiveForm(LeavingForm):
    withdrawn_on = forms.DateField(
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Empty: today.",
    )


class SubjectForm(forms.Form):
    """One group or person, chosen from those it makes sense to name."""

    subject = forms.ChoiceField(label="Group or person")

    def __init__(self, *args, subjects: list[Group | User], **kwargs):
        super().__init__(*args, **kwargs)
        self.subjects = {f"{_kind(subject)}:{subject.pk}": subject for subject in subjects}
        named = [(key, _label(subject)) for key, subject in self.subjects.items()]
        self.fields["subject"].choices = [
            ("", "Choose one"),
            ("Groups", [pair for pair in named if pair[0].startswith("group:")]),
            ("People", [pair for pair in named if pair[0].startswith("user:")]),
        ]

    def clean_subject(self) -> Group | User:
        return self.subjects[self.cleaned_data["subject"]]


def granted_subjects(documents) -> list[Group | User]:
    """Everybody with a grant to any of these documents, groups first."""
    grants = Grant.objects.filter(document__in=documents).select_related("group", "user")
    groups = {grant.group for grant in grants if grant.group_id}
    people = {grant.user for grant in grants if grant.user_id}
    return [*sorted(groups, key=str), *sorted(people, key=str)]


def _kind(subject: Group | User) -> str:
    return "group" if isinstance(subject, Group) else "user"


def _label(subject: Group | User) -> str:
    return subject.name if isinstance(subject, Group) else f"{subject.email} ({subject})"
