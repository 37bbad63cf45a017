import type { Path } from './document.js';

/** What a form offers of a node or an edge; what is rarer is written in the text beside it. */
export interface Field {
  readonly path: Path;
  readonly label: string;
  /** `yaml`: a value of any shape, as text. */
  readonly as: 'line' | 'text' | 'number' | 'check' | 'choice' | 'yaml';
  readonly choices?: readonly string[];
  /** Names that are likely: those of people, engines, workflows, connectors. */
  readonly names?: Names;
  readonly hint?: string;
}
export type Names = 'employees' | 'engines' | 'workflows' | 'connectors';

type Raw = Readonly<Record<string, unknown>>;

/** Of the whole definition. */
export const headFields: readonly Field[] = [
  { path: ['title'], label: 'Title', as: 'line' },
  { path: ['description'], label: 'Description', as: 'text' },
  { path: ['owner'], label: 'Owner', as: 'line', names: 'employees' },
  { path: ['department'], label: 'Department', as: 'line' },
  { path: ['concurrency'], label: 'Runs at once', as: 'number', hint: '1 to 8; further ones wait' },
  {
    path: ['input'],
    label: 'Input',
    as: 'yaml',
    hint: 'what a run must be given, as JSON Schema: properties: {topic: {type: string}}',
  },
  { path: ['status'], label: 'Status', as: 'choice', choices: ['active', 'paused'] },
];

export function nodeFields(node: Raw): readonly Field[] {
  const label: Field = { path: ['label'], label: 'Name', as: 'line', hint: 'for people; default its id' };
  const of = fieldsByType[String(node['type'])] ?? (() => []);
  return [label, ...of(node)];
}

const fieldsByType: Readonly<Record<string, (node: Raw) => readonly Field[]>> = {
  trigger: ({ trigger }) => [
    choice(['trigger', 'kind'], 'Starts', ['manual', 'schedule', 'todo-status-change']),
    ...({
      schedule: [
        line(['trigger', 'cron'], 'Schedule', 'five fields: minute, hour, day, month, weekday'),
        line(['trigger', 'timezone'], 'Time zone', 'Europe/Berlin'),
      ],
      'todo-status-change': [
        line(['trigger', 'toStatus'], 'When a work item becomes'),
        line(['trigger', 'fromStatus'], 'Having been'),
        yaml(['trigger', 'filter'], 'Only of', 'source, department, assignee'),
      ],
    }[kindOf(trigger)] ?? []),
  ],
  step: ({ actor }) => [
    choice(['actor', 'kind'], 'Done by', [
      'employee',
      'engine',
      'connector-send',
      'http',
      'work-item',
      'workflow',
      'noop',
    ]),
    ...(actorFields[kindOf(actor)] ?? []),
    { path: ['optional'], label: 'Its failure stops nothing', as: 'check' },
    choice(['options', 'onError'], 'When it fails', ['fail-run', 'continue', 'error-edge']),
    { path: ['options', 'timeoutMinutes'], label: 'Minutes at most', as: 'number', hint: 'default a day' },
    { path: ['options', 'retry', 'maxAttempts'], label: 'Attempts', as: 'number', hint: '1 to 5' },
    yaml(['output'], 'Outcome', 'a JSON Schema of its fields'),
    yaml(['gates'], 'Gates before it'),
  ],
  gate: ({ gate }) => [
    choice(['gate', 'kind'], 'Waits for', ['approval', 'artifact', 'flag']),
    { path: ['gate', 'description'], label: 'What is asked', as: 'text' },
    ...({
      approval: [named(['gate', 'approvalRef'], 'Asked of', 'employees', 'an employee, or a name for it')],
      artifact: [line(['gate', 'glob'], 'File', 'reports/*.md')],
      flag: [line(['gate', 'flag'], 'Field that becomes true')],
    }[kindOf(gate)] ?? []),
    { path: ['gate', 'timeoutMinutes'], label: 'Minutes at most', as: 'number' },
  ],
  switch: () => [choice(['switchMode'], 'Takes', ['firstMatch', 'allMatches'])],
  wait: () => [
    { path: ['waitMinutes'], label: 'Minutes', as: 'number' },
    line(['waitUntil'], 'Or until', '2026-12-24T18:00:00Z'),
  ],
  merge: () => [choice(['mode'], 'Goes on with', ['all', 'any'])],
  fail: () => [{ path: ['failMessage'], label: 'Message', as: 'text' }],
  end: () => [yaml(['result'], 'Gives back', 'answer: steps.think.outcome.summary')],
};

const line = (path: Path, label: string, hint?: string): Field => ({
  path,
  label,
  as: 'line',
  ...(hint !== undefined && { hint }),
});
const yaml = (path: Path, label: string, hint?: string): Field => ({
  ...line(path, label, hint),
  as: 'yaml',
});
const named = (path: Path, label: string, names: Names, hint?: string): Field => ({
  ...line(path, label, hint),
  names,
});
const choice = (path: Path, label: string, choices: readonly string[]): Field => ({
  path,
  label,
  as: 'choice',
  choices,
});
const kindOf = (value: unknown): string => String((value as Raw | null | undefined)?.['kind'] ?? 'manual');

const instructions: Field = {
  path: ['instructions'],
  label: 'Instructions',
  as: 'text',
  hint: 'may hold {{input.topic}} or {{steps.read.outcome.summary}}',
};
const actorFields: Readonly<Record<string, readonly Field[]>> = {
  employee: [named(['actor', 'ref'], 'Employee', 'employees'), instructions],
  engine: [named(['actor', 'ref'], 'Engine', 'engines'), instructions],
  'connector-send': [
    named(['actor', 'connector'], 'Connector', 'connectors'),
    line(['actor', 'channel'], 'Channel'),
    { path: ['actor', 'text'], label: 'Text', as: 'text' },
  ],
  http: [
    choice(['actor', 'method'], 'Method', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    line(['actor', 'url'], 'Address', 'https://example.org/hook'),
    yaml(['actor', 'headers'], 'Headers'),
    yaml(['actor', 'body'], 'Body'),
  ],
  'work-item': [
    choice(['actor', 'operation'], 'Operation', ['create', 'status', 'assign', 'comment', 'archive']),
    line(['actor', 'id'], 'Work item', 'all but create need one'),
    yaml(['actor', 'fields'], 'Fields', 'title: Water the ferns'),
  ],
  workflow: [
    named(['actor', 'workflowId'], 'Workflow', 'workflows'),
    yaml(['actor', 'input'], 'Given', 'topic: "{{input.topic}}"'),
  ],
};

export const edgeFields = ({ kind }: Raw): readonly Field[] => [
  choice(['kind'], 'Kind', ['sequence', 'handoff', 'loop']),
  choice(['lane'], 'Taken', ['', 'error']),
  { path: ['when'], label: 'Only when', as: 'yaml', hint: '[{path: steps.a.status, op: eq, value: done}]' },
  ...(kind === 'loop' ? [{ path: ['maxRounds'], label: 'Rounds at most', as: 'number' } as const] : []),
];

/** What a new node of a type begins with. */
export const beginnings: Readonly<Record<string, Raw>> = {
  step: { type: 'step', actor: { kind: 'engine', ref: '' }, instructions: 'What is to be done.' },
  gate: { type: 'gate', gate: { kind: 'approval', description: 'May it go on?' } },
  switch: { type: 'switch', switchMode: 'firstMatch' },
  wait: { type: 'wait', waitMinutes: 60 },
  merge: { type: 'merge', mode: 'all' },
  fail: { type: 'fail', failMessage: 'It was refused.' },
  end: { type: 'end' },
};
