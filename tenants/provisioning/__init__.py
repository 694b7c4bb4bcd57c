"""SCIM 2.0: a directory makes, changes and ends accounts here, and says who is in which group.

A directory speaks for one identity provider of one tenant, through a token of that provider. It sees
and changes only accounts that it provisioned; whose account somebody is follows `tenants.identity`.
"""
