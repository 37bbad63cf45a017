import { createHash } from 'node:crypto';

/**
 * The page at which a browser is paired. Code and grant arrive in the fragment of the address, which browsers
 * send nowhere, and are taken out of it at once. Style and script stand in the page and are allowed by their
 * hashes: nothing else runs, nothing is loaded, no one frames it.
 */
export interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers that every page of ours has, with what it may run beside nothing. */
export function pageHeaders(allowed: {
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}): Readonly<Record<string, string>> {
  const sources = (texts: readonly string[]): string =>
    texts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ');
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src ${sources(allowed.scripts)}`,
      `style-src ${sources(allowed.styles)}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
  };
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 26rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; }
input { font: 1.4rem/2 ui-monospace, monospace; width: 100%; box-sizing: border-box;
  text-align: center; text-transform: uppercase; letter-spacing: .08em; }
button { font: inherit; margin-top: 1rem; padding: .5rem 1.5rem; }
p[role=status] { min-height: 3em; }
`;

const script = `
'use strict';
const form = document.querySelector('form');
const input = document.querySelector('input');
const message = document.querySelector('[role=status]');
const given = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, '', location.pathname);
const say = (text) => { message.textContent = text; };

async function exchange(path, headers, content) {
  say('One moment …');
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(content),
    credentials: 'same-origin',
    redirect: 'error',
  }).catch(() => undefined);
  if (answer === undefined) return say('The gateway does not respond.');
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) return say(body.error || 'That did not work.');
  form.hidden = true;
  say('This browser is paired.');
  const page = await fetch('/', { method: 'HEAD', credentials: 'same-origin' }).catch(() => undefined);
  if (page !== undefined && page.ok) location.replace('/');
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  exchange('/api/auth/pair', {}, { code: input.value });
});
const grant = given.get('svc-bootstrap');
const code = given.get('code');
if (grant !== null) exchange('/api/auth/bootstrap', { 'x-svc-bootstrap-grant': grant }, {});
else if (code !== null) { input.value = code; say('Press the button to pair this browser.'); }
`;

/**
 * Opening the link of a code does not redeem it: a person presses the button, a preview of the link does not.
 */
export const pairPage: Page = {
  html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Pair this browser</title>
<style>${style}</style>
<h1>Pair this browser</h1>
<p>On the gateway's machine run <code>troupe pair</code> and enter the code.</p>
<form><input name="code" aria-label="Pairing code" placeholder="XXXX-XXXX-XXXX"
  maxlength="20" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus>
<button>Pair</button></form>
<p role="status"></p>
<script>${script}</script>
</html>
`,
  headers: pageHeaders({ scripts: [script], styles: [style] }),
};
