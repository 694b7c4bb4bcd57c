// Server-sent events over fetch: EventSource can neither POST nor send a CSRF header.

/** Yields {name, data} for each event of a response body; data is parsed JSON. */
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks.filter(hasData)) yield parse(block);
  }
}

// Comments keep the connection alive and say nothing.
function hasData(block) {
  return /^data:/m.test(block);
}

function parse(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trim());
  }
  return { name, data: JSON.parse(data.join("\n")) };
}

/** POST with the CSRF token; a string body is JSON. */
export function post(url, body, options = {}) {
  const headers = { "X-CSRFToken": csrfToken(), ...options.headers };
  if (typeof body === "string") headers["Content-Type"] = "application/json";
  const { signal } = options;
  return fetch(url, { method: "POST", body, credentials: "same-origin", signal, headers });
}

// From the cookie, not the page: signing in again in another tab makes a new one.
function csrfToken() {
  return document.cookie.match(/(?:^|;\s*)precept_csrf=([^;]*)/)?.[1] ?? "";
}
