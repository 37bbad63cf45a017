import * as z from 'zod';
import { isWorkerLabel, isWorkerName } from '../../../machines/worker/machine.js';
import { sandboxLevels, type SandboxLevel } from '../../../actors/sandbox/levels.js';
import { toolChoice, type ToolChoice } from '../../home/agent-settings.js';
import { judged } from '../judged.js';

/**
 * What an employee's file may say. Everything but the name has a default, so that a file of three lines is
 * someone who can work; members that are not known here belong to others and are left alone.
 */
export const ranks = ['executive', 'manager', 'senior', 'employee'] as const;
export type Rank = (typeof ranks)[number];

const word = (charsMax: number) => z.string().trim().min(1).max(charsMax);
const words = (countMax: number, charsMax = 500) => z.array(word(charsMax)).max(countMax);

/** Names become list keys, folder names and words of agents' tools. */
export const employeeName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores');

export const permissions = z.union([
  z.enum(['ask', 'allow-list', 'full']),
  z.strictObject({
    mode: z.enum(['ask', 'allow-list', 'full']),
    allow: words(200).optional(),
    lendTo: z.union([z.enum(['reports', 'anyone']), z.array(employeeName).max(100)]).optional(),
  }),
]);

/** Whether agents of other houses may give this employee tasks, and how many. */
const a2a = z.union([
  z.boolean(),
  z.strictObject({
    description: z.string().trim().max(2_000).optional(),
    tasksMax: z.int().min(1).max(100).optional(),
    messagesPerMinute: z.int().min(1).max(1_000).optional(),
    messageCharsMax: z.int().min(1).max(32_000).optional(),
  }),
]);

/** How an employee is offered to agents of other houses, over the Agent2Agent protocol. */
export interface A2aOffer {
  /** What its card says that it does. */
  readonly description: string;
  /** That are not at their end. */
  readonly tasksMax: number;
  readonly messagesPerMinute: number;
  readonly messageCharsMax: number;
}

const offerOf = (said: z.output<typeof a2a> | null | undefined): A2aOffer | undefined =>
  said == null || said === false
    ? undefined
    : {
        description: '',
        tasksMax: 4,
        messagesPerMinute: 30,
        messageCharsMax: 32_000,
        ...(said === true ? {} : (Object.fromEntries(Object.entries(said)) as Partial<A2aOffer>)),
      };

/**
 * The members that may be changed over HTTP, each with its rule. `null` takes the member out of the file
 * where that makes sense.
 */
export const editable = {
  displayName: word(200),
  department: word(64),
  rank: z.enum(ranks, {
    error: (issue) => `invalid rank ${JSON.stringify(issue.input)}: must be one of ${ranks.join(', ')}`,
  }),
  engine: word(64).nullable(),
  model: word(200).nullable(),
  effortLevel: word(64).nullable(),
  persona: z.string().max(65_536),
  reportsTo: z.union([employeeName, z.array(employeeName).max(10)]).nullable(),
  cliFlags: words(50).nullable(),
  alwaysNotify: z.boolean(),
  monthlyBudgetUsd: z.number().min(0).max(1_000_000).nullable(),
  allowedConnectors: words(100, 200).nullable(),
  permissions: permissions.nullable(),
};

const maybe = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  Object.fromEntries(Object.entries(shape).map(([name, rule]) => [name, rule.nullish()])) as {
    [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>>;
  };

export const employeeFile = z.looseObject({
  name: employeeName.optional(),
  ...maybe(editable),
  emoji: word(16).nullish(),
  cwd: word(4_096).nullish(),
  worktree: z.boolean().nullish(),
  worker: z
    .strictObject({
      name: z.string().refine(isWorkerName, 'must be the name of a worker').optional(),
      labels: z.array(z.string().refine(isWorkerLabel, 'must be a label of workers')).max(16).optional(),
    })
    .nullish(),
  sandbox: z.enum(sandboxLevels).nullish(),
  mcp: z.union([z.boolean(), words(50)]).nullish(),
  tools: toolChoice.nullish(),
  a2a: a2a.nullish(),
  provides: z
    .array(z.looseObject({ name: word(200), description: z.string().max(2_000).optional() }))
    .max(50)
    .nullish(),
});

export const departmentFile = z.looseObject({
  name: z.string().max(64).nullish(),
  displayName: word(200).nullish(),
  description: z.string().max(10_000).nullish(),
});

/**
 * Someone as the file tells it, with defaults filled in. `reportsTo` is as written: whether it leads
 * anywhere is the hierarchy's matter.
 */
export interface Person {
  readonly name: string;
  readonly displayName: string;
  readonly department: string;
  readonly rank: Rank;
  readonly engine?: string;
  readonly model?: string;
  readonly effortLevel?: string;
  readonly persona: string;
  readonly reportsTo: readonly string[];
  readonly cliFlags?: readonly string[];
  readonly alwaysNotify: boolean;
  readonly emoji?: string;
  /** Where the sessions work, inside sessions.roots; with `worktree` in a git worktree of it. */
  readonly cwd?: string;
  readonly worktree?: boolean;
  /** The worker of another machine on which the sessions run: by its name, or by all of these labels. */
  readonly worker?: { readonly name?: string | undefined; readonly labels?: readonly string[] | undefined };
  /** Narrower than agents.sandbox; a wider one has no effect. */
  readonly sandbox?: SandboxLevel;
  readonly mcp?: boolean | readonly string[];
  /** Of the gateway's tools, those in the list of its agents; the others they find. */
  readonly tools?: ToolChoice;
  readonly provides?: readonly { readonly name: string; readonly description?: string | undefined }[];
  readonly monthlyBudgetUsd?: number;
  readonly allowedConnectors: readonly string[];
  readonly permissions: z.output<typeof permissions>;
  /** Absent: no one outside may give it tasks. */
  readonly a2a?: A2aOffer;
}

/**
 * The file's value as a person of that department, or what is wrong with it: `rank: invalid rank "boss": …`.
 */
export function personOf(
  value: unknown,
  fallback: { readonly name: string; readonly department: string },
): Person | { readonly fault: string } {
  const checked = judged(employeeFile, value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    return { fault: `${issue?.path.join('.') || 'the whole file'}: ${issue?.message ?? 'cannot be used'}` };
  }
  const { data } = checked;
  const name = data.name ?? fallback.name;
  const named = employeeName.safeParse(name);
  if (!named.success)
    return {
      fault: `the name ${JSON.stringify(name)} ${named.error.issues[0]?.message ?? 'cannot be used'}`,
    };
  const { reportsTo } = data;
  const offer = offerOf(data.a2a);
  return {
    name,
    displayName: data.displayName ?? name,
    department: data.department ?? fallback.department,
    rank: data.rank ?? 'employee',
    persona: data.persona ?? '',
    reportsTo: typeof reportsTo === 'string' ? [reportsTo] : (reportsTo ?? []),
    alwaysNotify: data.alwaysNotify ?? false,
    allowedConnectors: data.allowedConnectors ?? [],
    permissions: data.permissions ?? 'ask',
    ...(data.engine != null && { engine: data.engine }),
    ...(data.model != null && { model: data.model }),
    ...(data.effortLevel != null && { effortLevel: data.effortLevel }),
    ...(data.cliFlags != null && { cliFlags: data.cliFlags }),
    ...(data.emoji != null && { emoji: data.emoji }),
    ...(data.cwd != null && { cwd: data.cwd }),
    ...(data.worktree != null && { worktree: data.worktree }),
    ...(data.worker != null && { worker: data.worker }),
    ...(data.sandbox != null && { sandbox: data.sandbox }),
    ...(data.mcp != null && { mcp: data.mcp }),
    ...(data.tools != null && { tools: data.tools }),
    ...(data.provides != null && { provides: data.provides }),
    ...(offer !== undefined && { a2a: offer }),
    ...(data.monthlyBudgetUsd != null && { monthlyBudgetUsd: data.monthlyBudgetUsd }),
  };
}
