// The gateway's OpenAPI document on standard input → its types in TypeScript on standard output.
import openapi, { astToString } from 'openapi-typescript';
import { text } from 'node:stream/consumers';

const document = JSON.parse(await text(process.stdin));
// A member that has a default may be left out of a request.
const types = await openapi(document, { defaultNonNullable: false, alphabetize: true, silent: true });
process.stdout.write(astToString(types));
