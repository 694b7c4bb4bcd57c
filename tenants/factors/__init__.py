"""Second factors of local accounts: codes from an app, passkeys, recovery codes.

The protocol is `allauth.mfa`'s. Here are the keys its secrets are encrypted with, the tenant's rule that
local accounts need one, who may take one away, and the record of all of it.
"""
