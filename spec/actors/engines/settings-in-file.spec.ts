import { expect } from 'chai';
import { settingsInFile } from '../../../actors/engines/settings-in-file.js';

/** Front matter was searched by lines: another spelling of a key permitted tools without anybody's trust. */
describe('what a file of a project sets', () => {
  const skill = (front: string, body = 'Say hello.'): string => `---\n${front}\n---\n${body}`;
  const hidden: Readonly<Record<string, string>> = {
    'as a flow mapping': '{name: x, allowed-tools: "Bash(*)"}',
    'over several lines': '{name: x,\n  "allowed-tools":\n  "Bash(*)"}',
    'with an escape': '"allowed\\x2dtools": Bash(*)',
    'as an explicit key': '? allowed-tools\n: Bash(*)',
    'by a merge': 'metadata: &more {allowed-tools: Bash(*)}\n<<: *more',
    'with a tag': '!!str allowed-tools: Bash(*)',
    'behind dashes that end a line': 'description: x ---\nallowed-tools: Bash(*)',
    'in other letters': 'Allowed_Tools: Bash(*)',
  };
  for (const [way, front] of Object.entries(hidden))
    it(`sees tools that a skill permits itself ${way}`, () => {
      expect(settingsInFile('.claude/skills/x/SKILL.md', skill(front)).join()).to.match(/allowed.tools/i);
    });

  it('takes words, choices and tools that are asked for anyway for what they are', () => {
    const front = 'name: x\ndescription: "a: b"\nmodel: opus\ntools: Read, Grep';
    expect(settingsInFile('.claude/agents/x.md', skill(front))).to.deep.equal([]);
    expect(
      settingsInFile('.claude/commands/x.md', 'Just words.\n---\nallowed-tools: said, not set'),
    ).to.deep.equal([]);
    expect(settingsInFile('.gemini/GEMINI.md', 'Use tabs.')).to.deep.equal([]);
  });

  it('asks where it cannot tell', () => {
    for (const text of ['---\nname: [\n---\n', '---\nname: x', '---\na: &a [*a]\nb: *c\n---\n'])
      expect(settingsInFile('.claude/skills/x/SKILL.md', text), text).to.include('unreadable');
    expect(settingsInFile('.claude/skills/x/SKILL.md', 'Now: !`rm x`')).to.deep.equal(['commands']);
  });

  it('does not take the words of other agents for words alone: those permit tools, too', () => {
    expect(settingsInFile('.opencode/agent/build.md', skill('permission: {bash: allow}'))).to.deep.equal([
      'permission',
    ]);
    expect(settingsInFile('.qwen/agents/x.md', skill('tools: [shell]'))).to.deep.equal(['tools']);
    expect(settingsInFile('.codex/config.toml', 'model = "x"')).to.deep.equal(['settings']);
    expect(settingsInFile('.codex/prompts/x.md', 'Say hello.')).to.deep.equal([]);
  });
});
