import { z } from 'zod';
import { statuses } from '../../machines/work-item/edges.js';
import { limits } from '../../machines/work-item/context.js';
import { ranks } from '../records/roster/employee.js';

/**
 * The shapes that several routes show or read. The same schemas parse requests and make the OpenAPI document.
 */

export const text = (max: number) => z.string().max(max);

export const iso = z.iso.datetime().describe('ISO-8601, UTC, milliseconds');

export const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullable();

/** Not blank. Surrounding blanks stay as they are: a prompt may begin with them on purpose. */
export const sentence = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => value.trim() !== '', 'must not be blank');

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a non-negative integer')
    .transform(Number)
    .pipe(
      z
        .number()
        .min(min, `must be at least ${min}`)
        .transform((value) => Math.min(value, max)),
    );

/**
 * Members that have two names, for the sake of older clients: they may agree, and may not contradict each
 * other.
 * @example agreeing(z.object({prompt, message}), ['prompt', 'message'])
 */
export const agreeing = <Schema extends z.ZodObject>(
  schema: Schema,
  ...pairs: readonly (readonly [string, string])[]
): Schema =>
  schema.superRefine((body, context) => {
    for (const [name, other] of pairs) {
      if (body[name] == null || body[other] == null || body[name] === body[other]) continue;
      context.addIssue({
        code: 'custom',
        path: [other],
        message: `differs from ${name}; send one of them`,
      });
    }
  });

/** A filter: a name. Empty is refused, for no one can tell whether it meant all of them or none. */
export const filter = z.string().min(1, 'must not be empty; omit it to list all').max(200);

/** Stored texts are bounded in bytes, so that a record stays small whatever the alphabet. */
export const boundedText = (bytesMax: number) =>
  z.string().max(bytesMax).describe(`At most ${bytesMax} bytes, as JSON in UTF-8.`);

/** A point in time in a query → epoch milliseconds. */
export const instant = z
  .string()
  .regex(
    /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/,
    'must be a date or a zoned timestamp',
  )
  .refine(
    (value) => new Date(`${value.slice(0, 10)}T00:00:00Z`).toJSON()?.startsWith(value.slice(0, 10)) === true,
    'is not a valid date',
  ) // the 30th of February would be read as the 2nd of March
  .transform((value) => Date.parse(value))
  .refine((at) => !Number.isNaN(at), 'is not a valid date');

export const idempotencyKey = z
  .string()
  .min(1)
  .max(256)
  .optional()
  .describe('Same namespace as the header Idempotency-Key; kept for 24 h.');

export const failure = z
  .looseObject({
    error: z.string().describe('A sentence for a person.'),
    code: z.string().describe('UPPER_SNAKE, for programs.'),
  })
  .meta({ id: 'Failure' });

export const sessionStatus = z.enum(['running', 'idle', 'error', 'interrupted', 'stopped', 'waiting']);

export const session = z
  .looseObject({
    id: z.string(),
    engine: z.string(),
    model: maybe(z.string()),
    effortLevel: maybe(z.string()),
    employee: maybe(z.string()),
    parentSessionId: maybe(z.string()),
    workItemId: maybe(z.string()),
    title: maybe(z.string()),
    promptExcerpt: maybe(z.string()),
    worker: maybe(z.string()).describe('Of another machine, on which it runs.'),
    workerLabels: z.array(z.string()),
    branch: maybe(z.string()).describe('Of the git worktree that it works in.'),
    status: sessionStatus.describe('`stopped` is final for pollers; a later message resumes the session.'),
    transportState: z.enum(['idle', 'queued', 'running', 'error', 'interrupted']),
    attemptOutcome: maybe(z.enum(['succeeded', 'failed', 'interrupted'])),
    queueDepth: z.int(),
    totalCost: z.number(),
    totalTurns: z.int(),
    lastError: maybe(z.string()),
    createdAt: iso,
    lastActivity: iso,
    toolPolicy: z.object({ mode: z.enum(['ask', 'allow-list', 'full']), allow: z.array(z.string()) }),
  })
  .meta({ id: 'Session' });

export const message = z
  .looseObject({
    id: z.string(),
    role: z.enum(['user', 'assistant', 'notification']),
    content: z.string(),
    timestamp: z.int().describe('epoch milliseconds'),
    media: z.array(z.looseObject({})).optional(),
    blocks: z
      .array(z.looseObject({ id: z.string(), type: z.string(), status: z.string() }))
      .optional()
      .describe('Cards: of a delegation, how its session stands now.'),
    partial: z.boolean().optional(),
    toolCall: z.string().optional().describe('The tool that was used or asked for.'),
    toolId: z.string().optional(),
    meta: z.looseObject({ kind: z.string().optional() }).nullish(),
  })
  .meta({ id: 'Message' });

export const messages = z.object({ messages: z.array(message), hasOlder: z.boolean() });

export const workItemStatus = z.enum(statuses);

export const workItemSource = z.enum([
  'human',
  'delegation',
  'cron',
  'workflow',
  'session',
  'connector',
  'goal',
]);

export const verifyPolicy = z
  .strictObject({
    mode: z.enum(['trust', 'verify', 'thorough']),
    maxRounds: z.int().min(1).max(20).optional(),
    verifier: z
      .strictObject({
        employee: text(200).optional(),
        engine: text(200).optional(),
        model: text(200).optional(),
      })
      .optional()
      .describe(
        'The `employee` who reviews each successful attempt, once per round, in a new session on ' +
          '`engine` and `model` where given. The review sends the item back or completes it. No ' +
          'employee reviews their own work. Without an employee no review is requested.',
      ),
  })
  .meta({ id: 'VerifyPolicy' });

export const labels = z
  .array(
    z
      .string()
      .min(1)
      .max(limits.labelCharsMax)
      .refine((word) => word.trim() === word, 'must not begin or end with a space'),
  )
  .max(limits.labelsMax);

export const employeeName = text(200).min(1);

export const note = text(limits.noteCharsMax).optional();

export const attachments = z.array(text(200)).max(20).optional();

export const textMax = 200_000;

/** What the routes of the organisation show. */
const place = {
  parentName: z.string().nullable(),
  directReports: z.array(z.string()),
  depth: z.int(),
  chain: z.array(z.string()).describe('From the root down to and including this one.'),
};

const common = {
  name: z.string(),
  displayName: z.string(),
  department: z.string(),
  rank: z.enum(ranks),
  engine: z.string().nullable(),
  model: z.string().nullable(),
  effortLevel: z.string().optional(),
  alwaysNotify: z.boolean(),
  reportsTo: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('As written in the file; `parentName` is the resolved manager.'),
  emoji: z.string().optional(),
  cliFlags: z.array(z.string()).optional(),
  provides: z.array(z.looseObject({})).optional(),
  mcp: z.union([z.boolean(), z.array(z.string())]).optional(),
  monthlyBudgetUsd: z.number().optional(),
  allowedConnectors: z.array(z.string()),
  permissions: z.unknown(),
  ...place,
};

export const employeeRow = z
  .object({ ...common, role: z.string().describe('The beginning of the persona.') })
  .meta({ id: 'EmployeeRow' });

export const employee = z.object({ ...common, persona: z.string() }).meta({ id: 'Employee' });

export const organisation = z.object({
  departments: z.array(z.string()),
  departmentDetails: z.array(
    z.object({ name: z.string(), displayName: z.string(), description: z.string().nullable() }),
  ),
  employees: z.array(employeeRow),
  hierarchy: z.object({
    root: z.string().nullable().describe('Null: the operator.'),
    sorted: z.array(z.string()),
    warnings: z.array(
      z.object({ employee: z.string(), type: z.string(), message: z.string(), ref: z.string().nullable() }),
    ),
  }),
  setAside: z
    .array(z.object({ file: z.string(), reason: z.string() }))
    .describe('Invalid files, with the reason.'),
});

export const budget = z
  .object({
    employee: z.string(),
    month: z.string().describe('`2026-11`, UTC.'),
    limitUsd: z.number().nullable().describe('`monthlyBudgetUsd` of the roster; null: no budget.'),
    grantedUsd: z.number().describe('Additional budget granted this month.'),
    spentUsd: z.number(),
    turns: z.int().describe('Turns whose cost was reported.'),
    percent: z.int().nullable(),
    state: z.enum(['within', 'warned', 'exceeded']).describe('`warned` from 80 %, `exceeded` from 100 %.'),
  })
  .meta({ id: 'Budget' });

export const sources = {
  content: z.string().optional().describe('The bytes as base64 (RFC 4648, padded).'),
  url: z
    .string()
    .min(1)
    .max(8_192)
    .optional()
    .describe('A public http or https address. Private, loopback and other special addresses are refused.'),
  path: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe(
      "A file on the gateway's machine: under files/ or uploads/, elsewhere only with gateway.allowFileCustomPaths.",
    ),
  filename: z.string().max(1_000).optional(),
};

const media = z
  .object({
    type: z.enum(['image', 'audio', 'file']),
    url: z.string(),
    name: z.string(),
    mimeType: z.string(),
    size: z.int(),
  })
  .meta({ id: 'Media' });

export const attached = z.object({
  id: z.string(),
  filename: z.string(),
  size: z.int(),
  mimetype: z.string(),
  path: z.string(),
  media,
  message: z.object({
    id: z.string(),
    role: z.literal('assistant'),
    content: z.string(),
    media: z.array(media),
    timestamp: z.int(),
  }),
});
