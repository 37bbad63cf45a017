/**
 * The last look at a line before it is written: whatever has the shape of a secret of ours is taken out,
 * wherever it stands – in a field that nobody thought of, in the message of an error, in the output of
 * somebody else's program. All our secrets are 32 random bytes in base64url, so they are told by their shape
 * alone; pairing codes are, too.
 */
export function scrub(line: string): string {
  return line
    .replace(bearers, 'Bearer [secret]')
    .replace(cookies, '$1=[secret]')
    .replace(tokens, '[secret]')
    .replace(codes, '[secret]');
}

const bearers = /\bBearer\s+(?!\[secret\])[^\s"\\,;]{8,}/gi;
const cookies = /\b(svc_auth(?:_[\w-]+)?)=[^;\s"\\]+/g;
/** 43 letters of base64url, and neither more nor fewer; those of bindings say so first. */
const tokens = /(?<![\w-])(?:svcw[ek]_)?[\w-]{43}(?![\w-])/g;
const codes = /(?<![\w-])[A-HJ-NP-Z2-9]{4}(?:-[A-HJ-NP-Z2-9]{4}){2}(?![\w-])/g;
