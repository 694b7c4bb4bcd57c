"""Sign-in through an organisation's own identity provider, and what it says about groups.

`oidc` speaks the protocol and gives `Claims`; `arriving` decides whose account that is; `mapping`
turns groups into groups and roles of Precept. A provider belongs to one tenant, and an account is
found by provider and subject, never by an e-mail address.
"""
