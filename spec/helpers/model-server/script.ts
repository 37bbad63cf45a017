/**
 * What the scripted model says. It obeys the last command in double square brackets of the newest message of
 * its user:
 *
 *     [[say hello]]                      answers "hello"
 *     [[slow words]]                     says the words, and then nothing more until the line is cut
 *     [[tool Bash {"command": "ls"}]]    calls the tool whose name ends so, then answers "tool said: …"
 *     [[fail 429]]                       answers with that status
 *     [[recall]]                         answers with the first thing that its user said
 *
 * Anything else is echoed. Obedience is all that a spec of an agent program needs of a model.
 */
export interface ModelTurn {
  readonly wire: 'anthropic' | 'chat' | 'responses' | 'gemini';
  readonly model: string;
  /** Texts of the user, oldest first. */
  readonly said: readonly string[];
  /** What tools answered since the user last spoke. */
  readonly toolResults: readonly string[];
  readonly tools: readonly string[];
  readonly effort?: string;
}

export interface ModelReply {
  readonly text?: string;
  readonly tool?: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Keep the stream open after the text, until the other side hangs up. */
  readonly hold?: boolean;
}

export type Script = (turn: ModelTurn) => ModelReply;

export const obedient: Script = (turn) => {
  const newest = turn.said.at(-1) ?? '';
  const command = [...newest.matchAll(/\[\[(\w+)\s*([\s\S]*?)\]\]/g)].at(-1);
  const [, verb, rest = ''] = command ?? [];
  switch (verb) {
    case 'say':
      return { text: rest };
    case 'slow':
      return { text: rest === '' ? 'working' : rest, hold: true };
    case 'fail':
      return { status: Number(rest) };
    case 'recall':
      return { text: `first: ${turn.said[0] ?? ''}` };
    case 'tool': {
      const [wanted = '', ...input] = rest.split(' ');
      const name =
        turn.tools.find((tool) => tool === wanted) ?? turn.tools.find((tool) => tool.endsWith(wanted));
      // some agents show a tool only after it was searched for
      const search = turn.tools.find((tool) => tool === 'tool_search');
      const isFound =
        search !== undefined &&
        name !== undefined &&
        turn.toolResults.length === 1 &&
        turn.toolResults[0]?.includes(wanted) === true;
      if (turn.toolResults.length > 0 && !isFound) return { text: `tool said: ${turn.toolResults.at(-1)}` };
      if (name === undefined && search !== undefined)
        return { tool: { name: search, input: { query: wanted } } };
      if (name === undefined) return { text: `no tool ${wanted} among ${turn.tools.join(' ')}` };
      return {
        tool: {
          name,
          input: JSON.parse(input.length === 0 ? '{}' : input.join(' ')) as Record<string, unknown>,
        },
      };
    }
    default:
      return { text: `echo: ${newest.trim().split('\n').at(-1) ?? ''}` };
  }
};

/** A reply in pieces, as models send them. */
export const pieces = (text: string): readonly string[] => text.match(/[\s\S]{1,12}/g) ?? [];
