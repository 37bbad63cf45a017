import { setTimeout as delay } from 'node:timers/promises';
import { createGatewayClient, Refused } from './gateway-client.js';
import { helpText, newsIn, understandAll, type Understood } from './instructions.js';
import { followInstruction, type Office } from './follow-instruction.js';

/**
 * The clerk's program: instructions on stdin, what was done on stdout, line by line. Exit code 1 when
 * something that was asked for could not be done; the reason stands on stdout where it happened, and the
 * count on stderr.
 */
async function main(): Promise<number> {
  const { SVC_GATEWAY_URL: url, SVC_GATEWAY_TOKEN: token, SVC_WORK_ITEM_ID: workItemId } = process.env;
  if (url === undefined || token === undefined) {
    process.stderr.write(
      'The clerk works through the gateway, and SVC_GATEWAY_URL or SVC_GATEWAY_TOKEN is not set.\n',
    );
    return 1;
  }
  const office: Office = {
    gateway: createGatewayClient(url, token),
    say: (line) => void process.stdout.write(`${line}\n`),
    now: () => new Date(),
    wait: (seconds) => delay(seconds * 1000),
  };
  const prompt = await readAll(process.stdin);
  const instructions = understandAll(prompt);
  const news = newsIn(prompt);
  for (const line of news) office.say(`Noted: ${line}`);
  if (instructions.length === 0 && news.length === 0)
    office.say(`There was no instruction. I am the clerk and have no model.\n${helpText}`);
  let notDone = 0;
  let hasHelped = false;
  for (const instruction of instructions) {
    const isDone = await obey(instruction, office, hasHelped);
    hasHelped ||= instruction.do === 'unknown' || instruction.do === 'help';
    // talk that is not understood is answered; a task that is not understood is not done
    if (!isDone && (instruction.do !== 'unknown' || workItemId !== undefined)) notDone += 1;
  }
  if (notDone > 0)
    process.stderr.write(`${notDone} of ${instructions.length} instructions could not be done.\n`);
  return notDone > 0 ? 1 : 0;
}

async function obey(instruction: Understood, office: Office, hasHelped: boolean): Promise<boolean> {
  if (instruction.do === 'unknown') {
    office.say(
      `I am the clerk and have no model, so I do not understand "${instruction.line.slice(0, 200)}".`,
    );
    if (!hasHelped) office.say(helpText);
    return false;
  }
  if (instruction.do === 'refuse') {
    office.say(instruction.sentence);
    return false;
  }
  try {
    await followInstruction(instruction, office);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    office.say(`Could not ${instruction.do}: ${error.message}`);
    return false;
  }
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  stream.setEncoding('utf8');
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

process.exitCode = await main();
