import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessNotice, accessOf } from '../../../actors/engines/agent/access.js';

describe('the way in of an engine', () => {
  const key = 'ACCESS_SPEC_KEY';
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'access-'));
    process.env[key] = 'a-value-that-is-never-shown';
  });
  afterEach(async () => {
    delete process.env[key];
    await rm(folder, { recursive: true });
  });
  const logins = () => ({ files: [join(folder, 'login.json')], keys: [key], remedy: 'agent login' });
  const look = (settings: object, more: object = {}) =>
    accessOf({ section: 'engines.agent', ...settings }, { ...logins(), ...more });

  it('is the key that the settings name, where the gateway has it', async () => {
    expect(await look({ apiKeyEnv: key })).to.deep.include({ state: 'ready', what: `key from ${key}` });
    expect(await look({ apiKeyEnv: 'ACCESS_SPEC_ABSENT' })).to.deep.include({
      state: 'missing',
      what: 'ACCESS_SPEC_ABSENT, which engines.agent.apiKeyEnv names, is not set for the gateway',
      absent: ['ACCESS_SPEC_ABSENT'],
      notPassed: [key],
    });
    expect(await look({ env: { [key]: 'x' } })).to.deep.include({ state: 'ready', notPassed: [] });
  });

  it('is a login file, unless the provider is another; a key that lies ready is named, not used', async () => {
    await writeFile(join(folder, 'login.json'), '');
    expect(await look({})).to.deep.include({
      state: 'ready',
      what: `login in ${join(folder, 'login.json')}`,
      notPassed: [key],
    });
    expect(await look({ baseUrl: 'http://127.0.0.1:1/' })).to.deep.include({ state: 'missing' });
  });

  it('is missing with the command that mends it, or unknown where logins cannot be seen', async () => {
    delete process.env[key];
    const none = await look({});
    expect(none).to.deep.equal({
      state: 'missing',
      what: 'no login and no key were found',
      remedy: 'agent login',
      notPassed: [],
      absent: [],
    });
    expect(accessNotice('agent', none)).to.equal(
      'agent: no login and no key were found. To fix it: agent login.',
    );
    const unseen = await look({}, { isUnseen: true });
    expect(unseen).to.include({ state: 'unknown' });
    expect(accessNotice('agent', unseen)).to.equal(undefined);
    expect(accessNotice('agent', await look({ absent: ['PROXY'] }, { isUnseen: true }))).to.equal(
      'agent is to be given PROXY, which the gateway does not have.',
    );
  });
});
