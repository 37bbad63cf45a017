import { expect } from 'chai';
import { acpParser } from '../../../actors/engines/acp/parser.js';
import { claudeParser } from '../../../actors/engines/claude/parser.js';
import { codexParser } from '../../../actors/engines/codex/parser.js';
import type { TurnIO } from '../../../actors/engines/engine.js';
import { limitsMemory } from '../../../actors/engines/limits.js';
import type { TurnReport } from '../../../actors/engines/turn-events.js';

/** What three protocols say of tools, thoughts and files, in the words of one. */
describe('what an agent program writes becomes reports', () => {
  function listen(): { readonly io: TurnIO; readonly reports: TurnReport[] } {
    const reports: TurnReport[] = [];
    // only what a parser uses
    return { reports, io: { report: (report: TurnReport) => void reports.push(report) } as TurnIO };
  }
  const limits = limitsMemory('spec');

  it("reads claude's tools, thoughts, and the files that its edits have changed", () => {
    const { io, reports } = listen();
    const parser = claudeParser(io, limits);
    const use = (id: string, name: string, input: object) =>
      parser.take({
        type: 'assistant',
        message: { content: [{ type: 'tool_use', id, name, input: input as never }] },
      });
    const result = (id: string, content: string, isError: boolean) =>
      parser.take({
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] },
      });
    parser.take({ type: 'stream_event', event: { delta: { thinking: 'hm' } } });
    use('e1', 'Edit', { file_path: '/w/a.ts', old_string: 'a', new_string: 'b' });
    result('e1', 'The file has been updated.', false);
    use('e2', 'Write', { file_path: '/w/b.ts', content: 'b' });
    result('e2', 'denied', true);
    expect(reports).to.deep.equal([
      { type: 'thinking', text: 'hm' },
      {
        type: 'tool.started',
        toolId: 'e1',
        tool: 'Edit',
        input: '{"file_path":"/w/a.ts","old_string":"a","new_string":"b"}',
      },
      { type: 'tool.finished', toolId: 'e1', output: 'The file has been updated.', isError: false },
      { type: 'file.changed', path: '/w/a.ts', change: 'changed', diff: '-a\n+b' },
      {
        type: 'tool.started',
        toolId: 'e2',
        tool: 'Write',
        input: '{"file_path":"/w/b.ts","content":"b"}',
      },
      { type: 'tool.finished', toolId: 'e2', output: 'denied', isError: true },
    ]);
  });

  it("reads codex' commands and changes, and none that was declined", () => {
    const { io, reports } = listen();
    const parser = codexParser(io, limits);
    const changes = [{ path: 'a.ts', kind: { type: 'add' }, diff: '+a' }];
    const item = { id: 'i1', type: 'fileChange', changes };
    parser.take('item/started', { item });
    parser.take('item/completed', { item: { ...item, status: 'completed' } });
    parser.take('item/completed', { item: { ...item, id: 'i2', status: 'declined' } });
    expect(reports.filter(({ type }) => type === 'file.changed')).to.deep.equal([
      { type: 'file.changed', path: 'a.ts', change: 'added', diff: '+a' },
    ]);
    expect(reports.at(-1)).to.deep.equal({
      type: 'tool.finished',
      toolId: 'i2',
      output: 'declined',
      isError: true,
    });
  });

  // The card of a tool in the chat says how it ended and how long it took
  it('reads how a command ended and how long it took, where the engine says so', () => {
    const codex = listen();
    const item = { id: 'i1', type: 'commandExecution', command: 'make', status: 'failed' };
    codexParser(codex.io, limits).take('item/completed', {
      item: { ...item, exitCode: 2, durationMs: 1_500 },
    });
    expect(codex.reports.at(-1)).to.deep.include({ exitCode: 2, durationMs: 1_500 });
    const claude = listen();
    const parser = claudeParser(claude.io, limits);
    for (const [content, is_error] of [
      ['Exit code 127\nmake: not found', true],
      ['Exit code 1', false],
    ] as const)
      parser.take({
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 't', content, is_error }] },
      });
    expect(claude.reports.map((report) => 'exitCode' in report && report.exitCode)).to.deep.equal([
      127,
      false,
    ]);
  });

  it("reads an agent's thoughts and differences over the Agent Client Protocol", () => {
    const { io, reports } = listen();
    const parser = acpParser(io);
    parser.begin('s');
    const update = (given: object) => parser.take({ sessionId: 's', update: given as never });
    update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } });
    update({ sessionUpdate: 'tool_call', toolCallId: 't', kind: 'edit', title: 'Edit a.ts' });
    update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 't',
      status: 'completed',
      content: [{ type: 'diff', path: 'a.ts', oldText: 'a', newText: 'b' }],
    });
    expect(reports.map(({ type }) => type)).to.deep.equal([
      'thinking',
      'tool.started',
      'tool.finished',
      'file.changed',
    ]);
    expect(reports.at(-1)).to.deep.equal({ type: 'file.changed', path: 'a.ts', change: 'changed' });
  });
});
