import { expect } from 'chai';
import {
  anchoredRule,
  commonRules,
  covers,
  isWholesale,
  proposedRule,
  ruleAllows,
  toolRule,
  type ToolUse,
} from '../../../machines/session/tool-rule.js';
import { anchored, atMost, mayUse, policyOfMode } from '../../../machines/session/tool-policy.js';

describe('a permission rule', () => {
  const bash = (command: string) => ({ tool: 'Bash', uses: { tool: 'Bash', command } as const });
  const files = (tool: 'Edit' | 'Read', ...paths: string[]) => ({
    tool: 'Write',
    uses: { tool, paths } as const,
  });
  const web = (host: string) => ({ tool: 'WebFetch', uses: { tool: 'WebFetch', host } as const });

  it('names a tool, or a part of one that runs commands, touches files or fetches', () => {
    expect(toolRule('Bash(git *)')).to.deep.equal({ tool: 'Bash', specifier: 'git *' });
    expect(toolRule('mcp__docs__*')).to.deep.equal({ tool: 'mcp__docs__*' });
    for (const wrong of ['', 'Bash()', 'Task(x)', 'Bash(git', 'Bash(a\nb)', 'a'.repeat(300)])
      expect(toolRule(wrong), wrong).to.equal(undefined);
  });

  it('of a command fits its beginning, on the border of a word', () => {
    for (const command of ['git', 'git status', 'git log -p  src', ' git status '])
      expect(ruleAllows('Bash(git *)', bash(command)), command).to.equal(true);
    for (const command of ['gitk', 'git-evil x', 'sudo git status', 'FOO=1 git status', 'GIT status', ''])
      expect(ruleAllows('Bash(git *)', bash(command)), command).to.equal(false);
    expect(ruleAllows('Bash(git:*)', bash('git status')), 'the older way to write it').to.equal(true);
    expect(ruleAllows('Bash(npm test)', bash('npm test')), 'itself').to.equal(true);
    expect(ruleAllows('Bash(npm test)', bash('npm test x')), 'and no more').to.equal(false);
    expect(ruleAllows('Bash(* --version)', bash('node --version'))).to.equal(true);
  });

  // A prefix that a second command hides behind would be a rule for every command
  it('of a command fits nothing that a shell joins, feeds, substitutes or continues', () => {
    for (const rest of [
      '&& rm -rf ~',
      '; id',
      '| sh',
      '|| id',
      '& id',
      '> ~/.bashrc',
      '>> x',
      '< /etc/passwd',
      '<<< x',
      '$(id)',
      '`id`',
      '$HOME',
      '"$(id)"',
      '<(id)',
      '(id)',
      '\nid',
      '\rid',
      'x\\\nid',
      '\0id',
    ])
      for (const rule of ['Bash(git *)', 'Bash(git status*)', `Bash(git status ${rest})`, 'Bash(*)'])
        expect(ruleAllows(rule, bash(`git status ${rest}`)), `${rule}: ${rest}`).to.equal(false);
    expect(ruleAllows('Bash(git *)', bash(`git ${'x'.repeat(5_000)}`)), 'too long to be read').to.equal(
      false,
    );
  });

  // `git diff --output=` writes any file, `go vet -vettool=` runs any program: "always" for the verb meant both
  it('of a command stands for no option that writes or runs something else, unless it names it', () => {
    const runs = (rule: string, command: string) =>
      ruleAllows(rule, { tool: 'Bash', uses: { tool: 'Bash', command } });
    for (const [rule, command] of [
      ['Bash(git diff *)', 'git diff --output=/home/me/.bashrc HEAD'],
      ['Bash(git log *)', 'git log --outp x'],
      ['Bash(git diff *)', 'git diff --"out"put=x'],
      ['Bash(git diff *)', 'git diff "--"output=x'],
      ['Bash(git diff *)', 'git diff {--output=x,HEAD}'],
      ['Bash(git show *)', 'git show --ext-diff'],
      ['Bash(git merge *)', 'git merge --strategy=mine x'],
      ['Bash(go vet *)', 'go vet -vettool=/tmp/x ./...'],
      ['Bash(go build *)', 'go build -toolexec /tmp/x'],
      ['Bash(go test *)', 'go test -exec=/tmp/x'],
      ['Bash(cargo test *)', 'cargo test --config target.runner=x'],
    ] as const)
      expect(runs(rule, command), command).to.equal(false);
    expect(
      proposedRule({ tool: 'Bash', uses: { tool: 'Bash', command: 'git diff --output=x' } }, '/w'),
    ).to.equal(undefined);
    expect(runs('Bash(git diff --output=x *)', 'git diff --output=x HEAD')).to.equal(true);
    // the last one counts, and a wildcard before the name of an option is not that option
    expect(runs('Bash(git diff --output=x *)', 'git diff --output=x --output=/home/me/.bashrc')).to.equal(
      false,
    );
    expect(runs('Bash(git diff x--output *)', 'git diff x--output --output=/home/me/.bashrc')).to.equal(
      false,
    );
    for (const braces of ['{-,x}-output=y', '--{output=y,stat}', '-{-output=y,-stat}'])
      expect(runs('Bash(git diff *)', `git diff ${braces}`), braces).to.equal(false);
    expect(runs('Bash(git diff --output=x)', 'git diff --output=x')).to.equal(true);
    for (const command of [
      'git diff -s --stat',
      'git diff --output-indicator-new=x',
      'git diff HEAD -- src/out',
      'git diff HEAD@{1} HEAD',
    ])
      expect(runs('Bash(git diff *)', command), command).to.equal(true);
  });

  // an agent whose rule was `git diff *` opened a session with the rule `git diff --output=~/.bashrc`, and it held
  it('covers no rule that names an option for which its wildcard does not stand', () => {
    const own = 'Bash(git diff *)';
    for (const lent of [
      'git diff --output=/home/me/.bashrc',
      'git diff --output=x *',
      'git diff {--output,-s}=x',
    ])
      expect(commonRules([`Bash(${lent})`], [own]), lent).to.deep.equal([]);
    expect(commonRules(['Bash(git diff --stat *)'], [own])).to.deep.equal(['Bash(git diff --stat *)']);
    const named = 'Bash(git diff --output=x *)';
    expect(commonRules(['Bash(git diff --output=x HEAD)'], [named])).to.have.length(1);
  });

  it('is decided at once, whatever was written to make it slow', () => {
    const slow = `Bash(${'a*'.repeat(400)}b)`;
    expect(ruleAllows(slow, bash('a'.repeat(4_000)))).to.equal(false);
    const deep = `Edit(//${'**/a/'.repeat(90)}b)`;
    expect(ruleAllows(deep, files('Edit', `/${'a/'.repeat(900)}c`))).to.equal(false);
  });

  it('of files fits each path or none, and no name that begins with a dot unless it says so', () => {
    const rule = anchoredRule('Edit(src/**)', '/w');
    expect(rule).to.equal('Edit(//w/src/**)');
    for (const path of ['/w/src/a.ts', '/w/src/deep/er/a.ts'])
      expect(ruleAllows(rule, files('Edit', path)), path).to.equal(true);
    for (const path of [
      '/w/a.ts',
      '/w/srcs/a.ts',
      '/etc/passwd',
      'src/a.ts',
      '/w/src/.env',
      '/w/src/.git/hooks/x',
    ])
      expect(ruleAllows(rule, files('Edit', path)), path).to.equal(false);
    expect(ruleAllows(rule, files('Edit', '/w/src/a.ts', '/w/b.ts')), 'one of two').to.equal(false);
    expect(ruleAllows(rule, files('Edit')), 'files that are not named').to.equal(false);
    expect(ruleAllows(rule, files('Read', '/w/src/a.ts')), 'another use').to.equal(false);
    expect(ruleAllows('Edit(//w/.github/**)', files('Edit', '/w/.github/a.yml'))).to.equal(true);
    expect(ruleAllows(anchoredRule('Edit(*.md)', '/w'), files('Edit', '/w/a.md'))).to.equal(true);
    expect(ruleAllows(anchoredRule('Edit(*.md)', '/w'), files('Edit', '/w/sub/a.md'))).to.equal(false);
    expect(ruleAllows(anchoredRule('Edit(../**)', '/w/x'), files('Edit', '/w/a')), 'out of it').to.equal(
      false,
    );
    expect(ruleAllows('Edit(**)', files('Edit', '/w/a')), 'bound to no folder').to.equal(false);
    const odd = anchoredRule('Edit(**)', '/w/*/x');
    for (const path of ['/w/other/x/a', '/w/*/x/a'])
      expect(ruleAllows(odd, files('Edit', path)), 'a folder with a wildcard for a name').to.equal(false);
  });

  it('of a host fits that host, or the hosts below it', () => {
    expect(ruleAllows('WebFetch(domain:a.example)', web('a.example'))).to.equal(true);
    expect(ruleAllows('WebFetch(domain:*.a.example)', web('b.a.example'))).to.equal(true);
    for (const host of ['evil-a.example', 'b.a.example', 'a.example.evil', ''])
      expect(ruleAllows('WebFetch(domain:a.example)', web(host)), host).to.equal(false);
    expect(ruleAllows('WebFetch(domain:*.com)', web('a.com')), 'half of the world').to.equal(false);
  });

  it('means the same for tools that engines call otherwise', () => {
    const codex = { tool: 'commandExecution', uses: { tool: 'Bash', command: 'git status' } as const };
    expect(ruleAllows('Bash(git *)', codex)).to.equal(true);
    expect(ruleAllows('Bash', codex)).to.equal(true);
    expect(ruleAllows('commandExecution', codex)).to.equal(true);
    expect(ruleAllows('Bash', { tool: 'BashOutput' })).to.equal(false);
    expect(ruleAllows('mcp__docs__*', { tool: 'mcp__docs__read' })).to.equal(true);
  });

  it('is proposed as narrow as it is useful, and never for all of a shell', () => {
    const proposals: readonly (readonly [command: string, rule: string | undefined])[] = [
      ['git status -s', 'Bash(git status *)'],
      ['npm test', 'Bash(npm test *)'],
      ['npm run build -- --x', 'Bash(npm run build *)'],
      ['cargo run', 'Bash(cargo run)'],
      ['npm exec evil', 'Bash(npm exec evil)'],
      ['git -c core.pager=evil log', 'Bash(git -c core.pager=evil log)'],
      ['ls -la src', 'Bash(ls -la src)'],
      ['bash evil.sh', 'Bash(bash evil.sh)'],
      ['python3 -m http.server', 'Bash(python3 -m http.server)'],
      ['git status && id', undefined],
      ['cat x | sh', undefined],
      ['echo $(id)', undefined],
      ['', undefined],
      ['*', undefined],
      [`git status ${'x'.repeat(600)}`, 'Bash(git status *)'],
      [`ls ${'x'.repeat(600)}`, undefined],
    ];
    const proposed = (asked: Parameters<typeof proposedRule>[0]) => proposedRule(asked, '/w');
    for (const [command, rule] of proposals) expect(proposed(bash(command)), command).to.equal(rule);
    expect(proposed({ tool: 'Bash' }), 'a shell of which nothing is known').to.equal(undefined);
    expect(proposed({ tool: 'mcp__db__query' })).to.equal('mcp__db__query');
    expect(proposed(files('Edit', '/w/src/a.ts', '/w/src/b.ts'))).to.equal('Edit(src/**)');
    expect(proposed(files('Edit', '/w/a.ts'))).to.equal('Edit(a.ts)');
    expect(proposed(files('Edit', '/w/src/a.ts', '/w/b.ts')), 'of two folders').to.equal(undefined);
    expect(proposed(files('Edit', '/w/.git/config')), 'a name with a dot').to.equal(undefined);
    expect(proposed(files('Edit', '/elsewhere/src/a')), 'another place').to.equal(undefined);
    expect(proposed(files('Edit')), 'no files').to.equal(undefined);
    expect(proposed(web('a.example'))).to.equal('WebFetch(domain:a.example)');
    expect(proposed(web(''))).to.equal(undefined);
  });

  // a person who agreed to one of these would have agreed to a shell
  it('is never proposed for a verb that runs, fetches or configures whatever follows it', () => {
    for (const command of [
      'git config core.pager evil',
      'git submodule foreach evil',
      'git bisect run evil',
      'git fetch --upload-pack=evil x',
      'go run evil',
      'npm exe sh x',
      'npm install evil',
      'npm init evil',
      'pnpm dlx evil',
      'pnpm sh -c "rm x"',
      'yarn node -e "evil"',
      'poetry run python -c "evil"',
      'uv run sh -c "evil"',
      'brew ruby -e "evil"',
      'mvn exec:exec -Dexec.executable=sh',
      'constructor call',
    ])
      expect(proposedRule(bash(command), '/w'), command).to.equal(`Bash(${command})`);
  });

  it('is never proposed where what was asked for would become a wildcard', () => {
    for (const command of ['rm *', 'env *', 'find . -name *.ts', 'ls:*'])
      expect(proposedRule(bash(command), '/w'), command).to.equal(undefined);
    expect(proposedRule(bash('git add *.ts'), '/w')).to.equal('Bash(git add *)');
    expect(proposedRule({ tool: 'mcp__db__*' }, '/w')).to.equal(undefined);
    expect(proposedRule(web('*.a.example'), '/w')).to.equal(undefined);
  });

  it('that stands for a whole shell is known as such', () => {
    for (const all of [
      'Bash',
      'Bash(*)',
      'Bash(:*)',
      'Bash(* *)',
      '*',
      'B*',
      'Edit',
      'Edit(**)',
      'Edit(//**)',
    ])
      expect(isWholesale(toolRule(all) ?? expect.fail(all)), all).to.equal(true);
    for (const part of ['Bash(git *)', 'Edit(src/**)', 'mcp__docs__*', 'TodoWrite'])
      expect(isWholesale(toolRule(part) ?? expect.fail(part)), part).to.equal(false);
  });

  it('covers another only where all that the other allows passes', () => {
    const yes = [
      ['Bash', 'Bash(git *)'],
      ['Bash(git *)', 'Bash(git push *)'],
      ['Bash(git:*)', 'Bash(git status)'],
      ['mcp__docs__*', 'mcp__docs__read'],
      ['Edit(//w/**)', 'Edit(//w/src/*.ts)'],
    ] as const;
    const no = [
      ['Bash(git push *)', 'Bash(git *)'],
      ['Bash(a * *)', 'Bash(a b *)'], // the narrower one allows "a b", too
      ['Bash(git *)', 'Bash'],
      ['Edit(//w/**)', 'Edit(//w/.git/**)'],
      ['Edit(//w/**)', 'Edit(//w/../etc/**)'],
      ['Edit(//w/src/**)', 'Edit(//w/**)'],
      ['Read(//w/**)', 'Edit(//w/a)'],
    ] as const;
    for (const [wider, narrower] of yes)
      expect(covers(wider, narrower), `${wider} ${narrower}`).to.equal(true);
    for (const [wider, narrower] of no)
      expect(covers(wider, narrower), `${wider} ${narrower}`).to.equal(false);
    expect(commonRules(['Bash(git *)', 'Read(//w/**)'], ['Bash(git push *)', 'Edit(//w/**)'])).to.deep.equal([
      'Bash(git push *)',
    ]);
  });

  // A child that works elsewhere must not change files there because its opener may change those of its own folder
  it('of files stays bound to the folder of the session that hands it on', () => {
    const mine = anchored(policyOfMode('edits'), '/mine');
    const child = atMost(anchored(policyOfMode('full'), '/theirs'), mine);
    const edit = (path: string): ToolUse => ({ tool: 'Edit', paths: [path] });
    expect(mayUse(child, { tool: 'Edit', uses: edit('/mine/a') })).to.equal(true);
    expect(mayUse(child, { tool: 'Edit', uses: edit('/theirs/a') })).to.equal(false);
    expect(atMost(anchored(policyOfMode('edits'), '/theirs'), mine).allow).to.deep.equal([]);
  });
});
