/**
 * A tool is a name for a route: what an agent fills in goes into path, query or body, and nothing else
 * happens. What a tool may do, and for whom, is therefore decided where HTTP is decided.
 */
export interface Tool {
  readonly name: string;
  /** A sentence for the model that chooses. */
  readonly about: string;
  readonly method: string;
  /** `/api/sessions/:id` */
  readonly path: string;
  readonly args: readonly Argument[];
  /** The path's id is the calling session. */
  readonly onSelf: boolean;
  /** The answer as the agent should see it; default: the route's own body. */
  readonly show?: Show;
}

export type Show = (body: unknown, args: Readonly<Record<string, unknown>>) => unknown;

export interface Argument {
  readonly name: string;
  /** Parameter of the path, or member of query or body. Null: only `show` looks at it. */
  readonly member: string | null;
  readonly required: boolean;
  readonly standard?: string;
  /** The agent does not see it; it always has its standard value. */
  readonly fixed: boolean;
}

/**
 * One line per tool. Arguments: `id!` is required, `last=20` has a default, `sessionId:id` becomes `id` in
 * the route, `messages=0.` is always that, `rank:` is only for `show`. `@self` in the path is the calling
 * session.
 * @example tool('update_work_item', 'POST /api/work-items/:id/status', 'id! status! note', 'Move a work item
 * along.')
 */
export function tool(name: string, route: string, args: string, about: string, show?: Show): Tool {
  const [method = '', path = ''] = route.split(' ');
  return {
    name,
    about,
    method,
    path: path.replace('@self', ':id'),
    onSelf: path.includes('@self'),
    args: args.split(' ').filter(Boolean).map(argument),
    ...(show && { show }),
  };
}

function argument(text: string): Argument {
  const [, name = '', colon, member, required, standard, fixed] =
    /^([A-Za-z]+)(:)?([A-Za-z]+)?(!)?(?:=(\w+))?(\.)?$/.exec(text) ?? [];
  if (name === '') throw new TypeError(`Invalid tool argument "${text}"`);
  return {
    name,
    member: colon === undefined ? name : (member ?? null),
    required: required !== undefined,
    fixed: fixed !== undefined,
    ...(standard !== undefined && { standard }),
  };
}
