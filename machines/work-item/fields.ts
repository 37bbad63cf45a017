import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import { limits, type VerifyPolicy, type WorkItemPatch } from './context.js';

/** The fields of a work item: what fits, at creation and in an edit. Every refusal names the member. */

const editable = [
  'title',
  'body',
  'acceptance',
  'assignee',
  'department',
  'priority',
  'rank',
  'verifyPolicy',
  'dueAt',
];

export function fitEdit(patch: WorkItemPatch): Refusal | undefined {
  if (typeof patch !== 'object' || patch === null) return bad('patch', 'The edit must be an object.');
  const unknown = Object.keys(patch).find((member) => !editable.includes(member));
  if (unknown !== undefined)
    return bad(unknown, `The field "${unknown}" cannot be edited. Editable fields: ${editable.join(', ')}.`);
  if (Object.keys(patch).length === 0) return bad('patch', 'The edit has no fields.');
  if (
    patch.title !== undefined &&
    (typeof patch.title !== 'string' ||
      patch.title.trim() === '' ||
      patch.title.length > limits.titleCharsMax)
  ) {
    return bad('title', `A title has 1 to ${limits.titleCharsMax} characters.`);
  }
  return fitFields(patch);
}

export function fitFields(fields: WorkItemPatch): Refusal | undefined {
  return (
    fitText('body', fields.body, limits.bodyBytesMax) ??
    fitText('acceptance', fields.acceptance, limits.acceptanceBytesMax) ??
    fitWord('assignee', fields.assignee) ??
    fitWord('department', fields.department) ??
    fitPriority(fields.priority) ??
    fitRank(fields.rank) ??
    fitDue(fields.dueAt) ??
    fitVerifyPolicy(fields.verifyPolicy)
  );
}

function fitText(path: string, text: unknown, bytesMax: number): Refusal | undefined {
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') return bad(path, `${path} must be text or null.`);
  return jsonBytes(text) > bytesMax
    ? refuse('PAYLOAD_TOO_LARGE', { path, bytesMax }, `${path} is larger than ${bytesMax} bytes.`)
    : undefined;
}

function fitWord(path: string, word: unknown): Refusal | undefined {
  if (word === undefined || word === null) return undefined;
  const fits = typeof word === 'string' && word.trim() !== '' && word.length <= limits.wordCharsMax;
  return fits
    ? undefined
    : bad(path, `${path} must be a name of 1 to ${limits.wordCharsMax} characters, or null.`);
}

const fitPriority = (priority: unknown): Refusal | undefined =>
  priority === undefined ||
  (Number.isInteger(priority) && (priority as number) >= 0 && (priority as number) <= 3)
    ? undefined
    : bad('priority', 'The priority must be 0, 1, 2 or 3.');

const fitRank = (rank: unknown): Refusal | undefined =>
  rank === undefined || rank === null || (typeof rank === 'number' && Number.isFinite(rank))
    ? undefined
    : bad('rank', 'The rank must be a number or null.');

const fitDue = (due: unknown): Refusal | undefined =>
  due === undefined ||
  due === null ||
  (typeof due === 'number' && Number.isFinite(due) && Math.abs(due) <= 8.64e15)
    ? undefined
    : bad('dueAt', 'dueAt must be a time or null.');

export function fitLabels(words: unknown, path = 'labels'): Refusal | undefined {
  if (words === undefined) return undefined;
  if (!Array.isArray(words) || words.length > limits.labelsMax)
    return bad(path, `${path} must be a list of at most ${limits.labelsMax} labels.`);
  const unfit = words.some(
    (word) =>
      typeof word !== 'string' || word.trim() !== word || word === '' || word.length > limits.labelCharsMax,
  );
  return unfit
    ? bad(path, `A label has 1 to ${limits.labelCharsMax} characters and no spaces around it.`)
    : undefined;
}

function fitVerifyPolicy(policy: VerifyPolicy | null | undefined): Refusal | undefined {
  if (policy === undefined || policy === null) return undefined;
  if (typeof policy !== 'object') return bad('verifyPolicy', 'verifyPolicy must be an object or null.');
  const unknown = Object.keys(policy).find((member) => !['mode', 'maxRounds', 'verifier'].includes(member));
  if (unknown !== undefined)
    return bad(`verifyPolicy.${unknown}`, `verifyPolicy has no member "${unknown}".`);
  if (!['trust', 'verify', 'thorough'].includes(policy.mode))
    return bad('verifyPolicy.mode', 'verifyPolicy.mode must be trust, verify or thorough.');
  const rounds = policy.maxRounds;
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1 && rounds <= 20))
    return bad('verifyPolicy.maxRounds', 'verifyPolicy.maxRounds must be 1 to 20.');
  return fitVerifier(policy.verifier);
}

function fitVerifier(verifier: unknown): Refusal | undefined {
  if (verifier === undefined) return undefined;
  if (typeof verifier !== 'object' || verifier === null)
    return bad('verifyPolicy.verifier', 'verifyPolicy.verifier must be an object.');
  for (const [member, value] of Object.entries(verifier)) {
    const path = `verifyPolicy.verifier.${member}`;
    if (!['employee', 'engine', 'model'].includes(member))
      return bad(path, `A verifier has no member "${member}".`);
    if (typeof value !== 'string' || value === '' || value.length > limits.wordCharsMax)
      return bad(path, `${path} must be a name.`);
  }
  return undefined;
}

const bad = (path: string, sentence: string): Refusal => refuse('BAD_REQUEST', { path }, sentence);
