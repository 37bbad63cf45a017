import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourcesOf } from '../../house/sources.js';

describe('machines/graph/README.md', () => {
  it('names every code with which a definition can be refused, and no other', () => {
    const text = readFileSync(join('machines', 'graph', 'README.md'), 'utf8');
    const sources = [
      ...sourcesOf(['machines']).filter(({ path }) => path.startsWith('machines/graph/')),
      ...sourcesOf(['lib']).filter(({ path }) =>
        /^lib\/commands\/workflows\/(?!bindings|polls|triggers)/.test(path),
      ),
    ];
    // Where codes stand: told with note() or say(), in rules of a reader, as the last argument of one, or in
    // a fault.
    const patterns = [
      /(?:\?\?|:|===) '((?:bad|missing|unknown)-[a-z-]+)'/g,
      /\b(?:note\(\s*reading,\s*|say\(\s*)'([a-z-]+)'/g,
      /\bcode: '([a-z-]+)'/g,
      /,\s*'(bad-[a-z-]+|too-many-[a-z-]+)',?\s*\)/g,
    ];
    const diagnostics = [
      'trigger-added',
      'nodes-moved',
      'unknown-employee',
      'unknown-engine',
      'unknown-connector',
      'unknown-workflow',
    ];
    const told = new Set(
      sources
        .flatMap(({ text: code }) =>
          patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? '')),
        )
        .filter((code) => !diagnostics.includes(code)),
    );
    const documented = [...text.slice(text.indexOf('## Faults')).matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(
      (match) => match[1] ?? '',
    );
    expect(told.size).to.be.greaterThan(50);
    const { unknown, undocumented } = {
      unknown: documented.filter((code) => !told.has(code)),
      undocumented: [...told].filter((code) => !documented.includes(code)),
    };
    expect({ unknown, undocumented }).to.deep.equal({ unknown: [], undocumented: [] });
  });
});
