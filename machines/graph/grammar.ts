/**
 * What an author must know, in a text that fits into a schema: people read it in the API's document, agents
 * in their tools.
 */
export const definitionGrammar = [
  'A graph: {title, name?, owner?, department?, description?, concurrency? (1-8), input? (JSON Schema), ' +
    'loop? {maxRoundsPerRun, stopWhen (conditions), maxRuns and until (of a schedule)}, nodes, edges}.',
  'Nodes {id, type, label?}: trigger {trigger: {kind: manual} | {kind: schedule, cron, timezone} | ' +
    '{kind: todo-status-change, toStatus, fromStatus?, filter?}};',
  'step {actor, instructions?, gates?, optional?, output? (JSON Schema of outcome.fields), options? ' +
    '{model, effort, retry {maxAttempts 1-5, on [error, no-output, interrupted, timeout]}, onError: ' +
    'fail-run | continue | error-edge, timeoutMinutes}};',
  'gate {gate: {kind: approval | artifact | flag, approvalRef | glob | flag, description}}; switch ' +
    '{switchMode: firstMatch | allMatches}; wait {waitMinutes | waitUntil}; merge {mode: all | any}; fail ' +
    '{failMessage}; end {result? {name: path}}.',
  'Actors: {kind: employee | engine, ref}, {kind: noop}, {kind: connector-send, connector, channel, ' +
    'text}, {kind: http, method, url, headers?, body?}, {kind: work-item, operation, id?, fields}, {kind: ' +
    'workflow, workflowId, input?}.',
  'Edges {id?, from, to, kind?: sequence | handoff | loop, lane?: error, when?, maxRounds? (of a loop)}. ' +
    'when: [{path, op, value?}], all must hold;',
  'op: eq ne gt gte lt lte contains startsWith matches (linear time) exists absent; paths: ' +
    'steps.<id>.status, steps.<id>.outcome.summary|notes|finalMessage|artifacts|fields.<key>, run.rounds, ' +
    'trigger.payload.<key>, input.<key>. Texts may hold {{path}}.',
  'Every node must be reachable, a switch needs an edge without conditions, a way back is a loop with a ' +
    'ceiling. Without a trigger a manual one is added.',
].join(' ');
