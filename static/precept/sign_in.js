// Sends a SAML provider's answer on, from a page of this site so that the session comes along.
document.getElementById("sign-in-answer").submit();
