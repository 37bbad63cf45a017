import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { topics } from '../../lib/docs/guides.js';
import { root } from '../house/sources.js';

/**
 * The samples of the README and of the guides. A fence says in its first line what is done with it:
 *
 * - `sh run`: pasted into a shell beside a running gateway; `sh run again`: repeated until its output is there;
 *   `sh run typed`: in a pseudo-terminal, where the question is answered with `y`
 * - `ts run`: compiled against the packed package, strictly, and run
 * - `yaml config`, `yaml employee`, `json definition`: read by what reads such files
 * - `text output`: what the sample above prints, line by line; `…` stands for anything
 */
export interface Sample {
  /** `effects.md` */
  readonly file: string;
  /** Line of the fence. */
  readonly line: number;
  readonly language: string;
  /** What follows the language: `run`, `run again`, `config` … */
  readonly use: string;
  readonly code: string;
  /** What it prints; undefined where the text does not say. */
  readonly output: string | undefined;
}

export const pages: readonly string[] = ['README.md', ...topics.map((topic) => `lib/docs/${topic}.md`)];

export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

export const samples: readonly Sample[] = pages.flatMap((page) => samplesOf(page, textOf(page)));

function samplesOf(page: string, text: string): readonly Sample[] {
  const fences = [...text.matchAll(/^```(\w+)(?: ([\w ]+))?\n([^]*?)^```$/gm)];
  return fences.flatMap((fence, index) => {
    const [, language = '', use = '', code = ''] = fence;
    if (use === 'output') return [];
    const next = fences[index + 1];
    const line = text.slice(0, fence.index).split('\n').length;
    return [
      {
        file: basename(page),
        line,
        language,
        use,
        code,
        output: next?.[2] === 'output' ? next[3] : undefined,
      },
    ];
  });
}

/** Every line of `output` in its order, each within a line of what was printed. */
export const patternOf = (output: string): RegExp =>
  new RegExp(
    output
      .trim()
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '…')
      .map((line) => line.split('…').map(quoted).join('.*'))
      .join('[^]*?\n[^]*?'),
  );

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
