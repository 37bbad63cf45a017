import { expect } from 'chai';
import { toolInputLines } from '../../../lib/cli/tool-input.js';

/** A person judged commands and edits in JSON, with quotes and line ends escaped, and past forty lines nothing. */
describe('what an agent wants to use a tool with', () => {
  const lines = (input: object): readonly string[] => toolInputLines(JSON.stringify(input, null, 2));

  it('is shown as it is: a command, an edit as what goes and what comes', () => {
    expect(lines({ command: 'grep "a" b', description: 'Look' })).to.deep.equal([
      'command: grep "a" b',
      'description: Look',
    ]);
    expect(lines({ file_path: '/a', old_string: "'one'", new_string: 'two\nthree', replace_all: false }))
      .to.deep //
      .equal(['file_path: /a', "- 'one'", '+ two', '+ three', 'replace_all: false']);
  });

  it('cannot pass a part of a text for another member, nor hide one', () => {
    expect(lines({ command: 'rm x\ndescription: harmless' })).to.deep.equal([
      'command:',
      '  | rm x',
      '  | description: harmless',
    ]);
    expect(lines({ command: 'a\rb\u202ec\u001b[2J' })).to.deep.equal(['command: "a\\rb\\u202ec\\u001b[2J"']);
    expect(lines({ 'a\nb': 1 })).to.deep.equal(['a b: 1']);
  });

  it('is shown where it was cut or is no object, and says how much is left out', () => {
    expect(toolInputLines('{\n  "command": "l')).to.deep.equal(['{', '  "command": "l']);
    expect(toolInputLines('"\u001b[2J"')).to.deep.equal(['"[2J"']);
    expect(lines({ command: 'x\n'.repeat(300) }))
      .to.have.length(201)
      .and.include('… 102 more lines');
  });
});
