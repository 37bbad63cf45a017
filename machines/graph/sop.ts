import { isRaw, type Raw } from './reader.js';

/**
 * A standard operating procedure, the short way to write a workflow: steps one after another. It becomes a
 * definition as a person would write it, which is then read like any other; so what is wrong in it is told
 * there.
 *
 *     {title: 'Digest', wakeUp: {cron: '0 9 * * 1-5', timezone: 'Europe/Berlin'}, steps: [{title: 'Read',
 * employee: 'ann', instructions: '…'}]}
 */
export function definitionOfSop(sop: Raw): Raw {
  const { steps, wakeUp, ...head } = sop;
  const given = Array.isArray(steps) ? (steps as readonly unknown[]).slice(0, stepsMax) : [];
  const nodes = given.map((step, index) => nodeOf(step, index));
  const ids = ['trigger', ...nodes.map(({ id }) => String(id))];
  return {
    ...head,
    nodes: [{ id: 'trigger', type: 'trigger', label: 'Start', trigger: triggerOf(wakeUp) }, ...nodes],
    edges: ids.slice(1).map((id, index) => ({
      id: `e${index + 1}`,
      from: ids[index],
      to: id,
      kind: index === 0 ? 'sequence' : 'handoff',
    })),
  };
}

/** One more than a definition may hold, so that too many are told and not cut. */
const stepsMax = 97;

function nodeOf(step: unknown, index: number): Raw {
  const id = `step-${index + 1}`;
  if (!isRaw(step)) return { id, type: 'step' };
  const { id: own, title, employee, engine, actor, ...others } = step;
  const doer =
    actor ??
    (typeof employee === 'string'
      ? { kind: 'employee', ref: employee }
      : typeof engine === 'string'
        ? { kind: 'engine', ref: engine }
        : undefined);
  return {
    id: own ?? id,
    type: 'step',
    ...(title === undefined ? {} : { label: title }),
    ...(doer === undefined ? {} : { actor: doer }),
    ...others,
  };
}

function triggerOf(wakeUp: unknown): unknown {
  if (typeof wakeUp === 'string' && wakeUp !== 'manual') return { kind: 'schedule', cron: wakeUp };
  return isRaw(wakeUp) && wakeUp['kind'] === undefined && wakeUp['cron'] !== undefined
    ? { kind: 'schedule', ...wakeUp }
    : (wakeUp ?? { kind: 'manual' });
}
