import { plainText } from './print.js';

/**
 * What an agent wants to use a tool with, for a person to judge: a member in a line, texts of several lines as they
 * are, an edit as what goes and what comes. A text with control characters stays in quotes, with their escapes.
 * Each line of a text has a mark before it, so that none can pass for another member.
 *
 * @example toolInputLines('{"command": "ls"}') // ['command: ls']
 */
export function toolInputLines(input: string): readonly string[] {
  const members = membersOf(input);
  const lines =
    members === undefined
      ? plainText(input, { keepLines: true }).split('\n')
      : Object.entries(members).flatMap(([name, value]) => memberLines(name, value));
  const more = lines.length - linesMax;
  return more > 0 ? [...lines.slice(0, linesMax), `… ${more} more lines`] : lines;
}

function memberLines(name: string, value: unknown): readonly string[] {
  const key = plainText(name);
  if (typeof value !== 'string' || plainText(value, { keepLines: true }) !== value)
    return [`${key}: ${escaped(JSON.stringify(value))}`];
  const mark = marks[key];
  const lines = value.split('\n');
  if (mark !== undefined) return lines.map((line) => `${mark} ${line}`);
  return lines.length === 1 ? [`${key}: ${value}`] : [`${key}:`, ...lines.map((line) => `  | ${line}`)];
}

/** Undefined where it is no object in JSON, such as one that was cut. */
function membersOf(input: string): object | undefined {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What JSON leaves as it is, and a terminal would not show. */
const escaped = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const linesMax = 200;
const marks: Readonly<Record<string, string>> = { old_string: '-', new_string: '+' };
