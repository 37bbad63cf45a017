import type { StepActor, WorkflowDefinition } from './definition.js';
import { parsePath, pathsIn } from './paths.js';
import type { ValueShape } from './value-shape.js';

/**
 * Where a step acts is fixed in the version, or comes from a list in it: the host that it asks, the connector and
 * channel that it sends to, whom it assigns, which work item it moves. A version that lends rights would otherwise
 * lend them for whatever its input says.
 */
export interface OpenText {
  /** `channel`, `fields.assignee` */
  readonly member: string;
  readonly text: string;
}

/**
 * The first such text that the input of a run may decide.
 * @example openText(definition, { kind: 'connector-send', channel: '{{input.to}}', … }) // { member: 'channel', … }
 */
export const openText = (
  definition: Pick<WorkflowDefinition, 'input' | 'nodes'>,
  actor: StepActor,
): OpenText | undefined =>
  addressOf(actor).find(({ text }) => pathsIn(text).length > 0 && !isListed(definition, text));

function addressOf(actor: StepActor): readonly OpenText[] {
  switch (actor.kind) {
    case 'http':
      return [{ member: 'url', text: originOf(actor.url) }];
    case 'connector-send':
      return [
        { member: 'connector', text: actor.connector },
        { member: 'channel', text: actor.channel },
      ];
    case 'work-item': {
      const { assignee } = actor.fields;
      return [
        ...(typeof assignee === 'string' ? [{ member: 'fields.assignee', text: assignee }] : []),
        ...(actor.id === null || actor.id === changedItem ? [] : [{ member: 'id', text: actor.id }]),
      ];
    }
    case 'workflow':
      return [{ member: 'workflowId', text: actor.workflowId }];
    default:
      return [];
  }
}

/** The work item whose change started the run: the gateway says which, not who changed it. */
const changedItem = '{{trigger.payload.workItemId}}';

/** Of an address: all up to the path. A template in it may hold a slash of its own. */
const originOf = (url: string): string =>
  /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:\{\{[^{}]*\}\}|[^/?#])*/i.exec(url)?.[0] ?? url;

/** Is it one `{{path}}`, and does the version list the values that may stand there? */
function isListed({ input, nodes }: Pick<WorkflowDefinition, 'input' | 'nodes'>, text: string): boolean {
  const only = /^\{\{([^{}]{0,600})\}\}$/.exec(text.trim())?.[1];
  const path =
    only === undefined ? undefined : parsePath(only.trim(), (id) => nodes.some((node) => node.id === id));
  if (path?.root === 'input') return hasList(input, path.keys);
  if (path?.root !== 'steps' || path.keys[0] !== 'outcome' || path.keys[1] !== 'fields') return false;
  const step = nodes.find(({ id }) => id === path.nodeId);
  return step?.type === 'step' && hasList(step.output, path.keys.slice(2));
}

function hasList(shape: ValueShape | null, keys: readonly string[]): boolean {
  let at: ValueShape | undefined = shape ?? undefined;
  for (const key of keys)
    at = at?.properties !== undefined && Object.hasOwn(at.properties, key) ? at.properties[key] : undefined;
  return at?.enum !== undefined || at?.const !== undefined;
}
