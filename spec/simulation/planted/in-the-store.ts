import type { Planted } from './planted.js';

export const plantedInTheStore: readonly Planted[] = [
  {
    name: 'deaths-unnoticed',
    what: 'F1: however often it dies at its opening, the database is trusted',
    edits: [{ from: 'deathsMax = 2', to: 'deathsMax = Infinity' }],
  },
  {
    name: 'keyless-sums',
    what: 'F5: checksums without keys, and nothing compares the copies',
    edits: [
      { from: 'return crc32(value, crc32(`${key}\\t`));', to: 'return crc32(value);' },
      {
        from: 'const compare = async (key, value) => {',
        to: 'const compare = async (key, value) => {\n        if (key) return;',
      },
      { from: 'if (unmet > 0)', to: 'if (false)' },
    ],
  },
  {
    name: 'sumless-checkpoint',
    what: 'F6: the checkpoint has no checksum',
    edits: [
      {
        from: 'return sum === hex(crc32(JSON.stringify(checkpoint)));',
        to: 'return true;',
      },
    ],
  },
  {
    name: 'other-spelling',
    what: 'F17: a home is opened twice in one process, by another spelling of its path',
    edits: [
      {
        from: 'const home = await ports.files.realpath(options.directory);',
        to: 'const home = options.directory;',
      },
    ],
  },
  {
    name: 'hasty-refusal',
    what: 'F16: "nothing was written" is said before it has been cut off',
    edits: [
      {
        from: `            await writer.abandon();
            rejectAll(waiting, cause);`,
        to: `            rejectAll(waiting, cause);
            await writer.abandon();`,
      },
    ],
  },
  {
    name: 'unsynced-name',
    what: 'found here: the name of a segment that an earlier process made is taken for durable',
    edits: [
      {
        from: `    // An earlier process may have made the file and died before its name was durable.
    await files.syncDirectory(directory);`,
        to: '',
      },
    ],
  },
  {
    name: 'unsynced-home',
    what: 'found here: the name of the home itself is never made durable',
    edits: [{ from: 'await keepName(files, home);', to: '' }],
  },
  {
    name: 'strays',
    what: 'found here: rows before the first key are never looked at',
    edits: [
      {
        from: '...(from === undefined ? {} : { gt: from }),\n                    limit,',
        to: "...(from === undefined ? { gt: '!' } : { gt: from }),\n                    limit,",
      },
    ],
  },
  {
    name: 'unsynced-base',
    what: 'a base image takes its name before it is durable',
    edits: [
      {
        from: `        await put([], rows, position);
        await file.sync();`,
        to: `        await put([], rows, position);`,
      },
    ],
  },
  {
    name: 'unsynced-notes',
    what: 'small files take their names before they are durable',
    edits: [
      {
        from: `await file.write(Buffer.from(text), 0);
        await file.sync();`,
        to: 'await file.write(Buffer.from(text), 0);',
      },
    ],
  },
  {
    name: 'early-answer',
    what: 'a group is acknowledged before it is durable',
    edits: [
      {
        from: 'const place = await writer.append(bytes, waiting[0].frame);',
        to: 'for (const { resolve } of waiting)\n resolve();\n const place = await writer.append(bytes, waiting[0].frame);',
      },
    ],
  },
  {
    name: 'no-replay',
    what: 'the log of the database is trusted: nothing is applied again from the last checkpoint on',
    edits: [
      {
        from: 'faults.length > 0 ? head.frame : start.frame',
        to: 'head.frame',
      },
    ],
  },
  {
    name: 'pruned-too-far',
    what: 'one segment too many is dropped after a base image',
    edits: [{ from: '<= floor + 1)', to: '<= floor + 40)' }],
  },
  {
    name: 'unsynced-rotation',
    what: 'a new segment is written to before its name is durable',
    edits: [
      {
        from: `        await file.truncate(0);
        await files.syncDirectory(directory);`,
        to: `        await file.truncate(0);`,
      },
    ],
  },
  {
    name: 'uncut',
    what: 'what a failed write left is not cut off',
    edits: [{ from: 'await again.truncate(place.offset);', to: '' }],
  },
];
