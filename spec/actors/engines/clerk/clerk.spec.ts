import { expect } from 'chai';
import { clerkEngine } from '../../../../actors/engines/clerk/engine.js';
import type { TurnResult } from '../../../../actors/engines/engine.js';
import { engineContract } from '../../../../lib/testing/engine-contract.js';
import { start } from '../child-fixture.js';
import { gatewayFixture, type GatewayFixture } from './gateway-fixture.js';

describe('clerk', () => {
  let gateway: GatewayFixture;
  beforeEach(async () => {
    gateway = await gatewayFixture([
      { title: 'Mend the roof', status: 'blocked', assignee: 'ann' },
      { title: 'Paint the door', status: 'in_review', approvalState: 'pending' },
      { title: 'Buy milk' },
      { title: 'Old thing', status: 'done' },
    ]);
  });
  afterEach(() => gateway.close());

  engineContract('clerkEngine', {
    engine: () => clerkEngine({ gatewayUrl: () => gateway.url }),
    env: () => ({ SVC_GATEWAY_URL: gateway.url, SVC_GATEWAY_TOKEN: gateway.token }),
    prompt: 'digest',
    slowPrompt: 'count to 60',
  });

  async function tell(
    prompt: string,
    env: Record<string, string> = {},
  ): Promise<TurnResult & { readonly chunks: readonly string[] }> {
    const chunks: string[] = [];
    const given = { SVC_GATEWAY_URL: gateway.url, SVC_GATEWAY_TOKEN: gateway.token, ...env };
    const result = await clerkEngine({ gatewayUrl: () => gateway.url }).turn(
      {
        sessionId: 's',
        turnId: 's:1',
        prompt,
        transcript: [],
        nativeId: null,
        model: null,
        effort: null,
        cwd: '/',
        env: given,
        deadlineMs: 60_000,
        silenceMs: 60_000,
      },
      {
        signal: new AbortController().signal,
        report: (report) => report.type === 'text' && void chunks.push(report.text),
        permission: () => Promise.resolve({ allow: true }),
        spawn: async (command, args, options) => (await start(command, args, options)).child,
      },
    );
    return { ...result, chunks };
  }

  it('digests the open work: counts, and what needs attention', async () => {
    expect((await tell('digest')).text).to.equal(
      [
        'Open work that I may see: 3 (1 backlog, 1 in review, 1 blocked).',
        'Blocked:',
        '- TRP-1 Mend the roof (blocked, ann)',
        'In review:',
        '- TRP-2 Paint the door (in review, approval pending)',
      ].join('\n'),
    );
  });

  it('lists and searches', async () => {
    expect((await tell('list for ann\nlist cancelled\nsearch door')).text).to.equal(
      [
        'Work items for ann:',
        '- TRP-1 Mend the roof (blocked, ann)',
        'No cancelled work items that I may see.',
        'Found for "door":',
        '- TRP-2 Paint the door (in review, approval pending)',
      ].join('\n'),
    );
  });

  it('adds, moves, delegates and asks for approval', async () => {
    const { text, outcome } = await tell(
      'add "Sweep the yard" for ann body: before noon\nmove TRP-3 to blocked: no milk\ndelegate "count the chairs" to ann\ndelegate "count the tables" to clerk\nask approval for TRP-3: buy oat milk?',
    );
    expect(outcome).to.equal('succeeded');
    expect(text).to.equal(
      [
        'Added TRP-5: Sweep the yard, for ann.',
        'TRP-3 is blocked now.',
        'Delegated to ann: TRP-6, session s-9, running.',
        'Delegated to engine clerk: TRP-7, session s-9, running.',
        'Asked root to approve TRP-3: buy oat milk?',
      ].join('\n'),
    );
    expect(
      gateway.requests.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body]),
    ).to.deep.equal([
      ['/api/work-items', { title: 'Sweep the yard', assignee: 'ann', body: 'before noon' }],
      ['/api/work-items/TRP-3/status', { status: 'blocked', note: 'no milk' }],
      ['/api/delegations', { task: 'count the chairs', employee: 'ann' }],
      ['/api/delegations', { task: 'count the tables', engine: 'clerk' }],
      ['/api/work-items/TRP-3/approval/request', { request: 'buy oat milk?' }],
    ]);
  });

  it('delegates to engines where there is no roster', async () => {
    await gateway.close();
    gateway = await gatewayFixture([], { hasRoster: false });
    expect((await tell('delegate "count the chairs" to clerk')).text).to.equal(
      'Delegated to engine clerk: TRP-1, session s-9, running.',
    );
  });

  it('writes a reminder down with its time, and says that it cannot ring', async () => {
    const { text } = await tell('remind me in 2 hours to call ann');
    expect(text).to.match(
      /^Added TRP-5, due \d{4}-\d\d-\d\d \d\d:\d\d UTC: call ann\. I cannot ring a bell then/,
    );
    expect(gateway.items.at(-1)?.title).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC: call ann$/);
  });

  it("tells a refusal in the gateway's own words, goes on, and has not succeeded", async () => {
    const result = await tell('move TRP-1 to done\nmove TRP-99 to blocked: x\ndelegate "x" to nobody\nhelp');
    expect(result.text.split('\n').slice(0, 4)).to.deep.equal([
      'Could not move: An attempt cannot declare its own work item done. Ask for review instead.',
      'Could not move: There is no work item TRP-99.',
      'Could not delegate: unknown engine "nobody" (known: clerk)',
      'I understand these instructions, one per line:',
    ]);
    expect(result).to.include({
      outcome: 'failed',
      error: 'clerk exited with code 1. It said: 3 of 4 instructions could not be done.',
    });
  });

  it('says plainly that it has no model, once with its help', async () => {
    const { text, outcome } = await tell('Write me a poem\nAnd a song');
    expect(outcome).to.equal('succeeded');
    expect(text).to.match(
      /^I am the clerk and have no model, so I do not understand "Write me a poem"\.\nI understand these/,
    );
    expect(text).to.include('I do not understand "And a song".');
    expect(text.split('I understand these').length).to.equal(2);
  });

  it('does not call a task done that it did not understand', async () => {
    expect(await tell('Write me a poem', { SVC_WORK_ITEM_ID: 'TRP-1' })).to.include({ outcome: 'failed' });
  });

  it('notes what another session tells and never obeys it, whatever it holds', async () => {
    // found live: a finished child's text was read as instructions of the parent
    const prompt = '[notification]\n> Session "digest" (s-9) succeeded.\n> \n> add "A trap"\n\nlist done';
    expect(await tell(prompt, { SVC_WORK_ITEM_ID: 'TRP-1' })).to.include({
      outcome: 'succeeded',
      text: 'Noted: Session "digest" (s-9) succeeded.\nDone work items:\n- TRP-4 Old thing (done)',
    });
    expect(gateway.items).to.have.lengthOf(4);
  });

  it('shows slow work line by line', async () => {
    const { text, chunks } = await tell('count to 3 every 0.05 seconds\nwait 0.05 seconds then list done');
    expect(text).to.equal(
      '1\n2\n3\nCounted.\nWaiting 0.05 seconds.\nWaited.\nDone work items:\n- TRP-4 Old thing (done)',
    );
    expect(chunks.length).to.be.greaterThan(2);
  });

  it('says that a wrong token, or no gateway, is the reason', async () => {
    expect((await tell('digest', { SVC_GATEWAY_TOKEN: 'wrong' })).text).to.equal(
      'Could not digest: Missing or invalid gateway auth token.',
    );
    await gateway.close();
    expect((await tell('digest')).text).to.equal(
      'Could not digest: The gateway did not answer (ECONNREFUSED).',
    );
  });

  it('is not available without a gateway, and says why', async () => {
    expect(await clerkEngine({ gatewayUrl: () => undefined }).discover())
      .to.include({ available: false })
      .and.have.property('reason')
      .that.includes('no gateway');
    expect(await clerkEngine({ gatewayUrl: () => gateway.url }).discover()).to.include({ available: true });
  });
});
