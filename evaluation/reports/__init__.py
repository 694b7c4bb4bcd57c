"""Reports for people outside the administration: the persona diff and the weekly compliance report."""
