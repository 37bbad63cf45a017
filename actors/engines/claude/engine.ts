import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { startLines, textAt, objectAt, type JsonObject, type LineChild } from '../agent/lines.js';
import { endWithoutResult } from '../turn-result.js';
import { accessOf } from '../agent/access.js';
import { permit, isWithinReach, type Reach } from '../agent/permission.js';
import { claudeUse } from '../agent/tool-use.js';
import { modelsOf, ownChoice, programFinder, providerHosts, type AgentProgram } from '../agent/program.js';
import { promptWithTranscript } from '../command.js';
import {
  defineEngine,
  type Engine,
  type PermissionAnswer,
  type TurnIO,
  type TurnRequest,
  type TurnResult,
} from '../engine.js';
import { limitsMemory, type LimitsMemory } from '../limits.js';
import { allowList, claudeArguments, claudeEnvironment } from './arguments.js';
import { claudeFolders } from './folders.js';
import { claudeResult, claudeParser } from './parser.js';
import { eraseClaudeTranscript, readClaudeTranscript } from './transcript.js';
import { settingsNames } from '../project-settings.js';
import { claudeProject, isSettingsFile } from './project.js';

/**
 * Claude Code as an engine: one process a turn that speaks stream-json on both sides. The prompt goes in as a
 * line, tools that it may not use by itself are asked for (`can_use_tool`), an interrupt is a request that it
 * answers with the half of its answer, and only then do signals follow. The session id is chosen by us and
 * resumed; where the agent no longer knows it, the conversation so far goes into the prompt of a new one.
 */
export interface ClaudeOptions extends AgentProgram {
  /** The program's own tools that its agents have at all, by name. Default: all. */
  readonly ownTools?: readonly string[];
}

const levels = ['low', 'medium', 'high', 'xhigh', 'max'];
const transcriptBytesMax = 256 * 1024;

/**
 * `claudeEngine({model: 'opus'})`; with `{baseUrl, apiKeyEnv}` for another endpoint than the provider's.
 * Throws a TypeError for a name that is none; a missing program is what `discover` answers.
 * @example const claude = claudeEngine({ model: 'opus' });
 */
export function claudeEngine(options: ClaudeOptions = {}): Engine {
  const bin = options.bin ?? 'claude';
  const find = programFinder(bin, 'npm install -g @anthropic-ai/claude-code', '2.1.197');
  const limits = limitsMemory('rate_limit_event');
  const models = [
    ...modelsOf([ownChoice], levels),
    ...modelsOf(options.models ?? ['opus', 'sonnet', 'haiku'], levels),
  ];
  const own =
    options.model !== undefined && !models.some(({ id }) => id === options.model)
      ? modelsOf([options.model], levels)
      : [];
  return defineEngine({
    name: options.name ?? 'claude',
    effortMechanism: 'claude-flag',
    seesImages: true,
    discover: async () => ({
      ...(await find()),
      defaultModel: options.model ?? ownChoice,
      models: [...own, ...models],
    }),
    access: () =>
      accessOf(
        { ...options, section: 'engines.claude' },
        {
          files: [join(options.env?.['CLAUDE_CONFIG_DIR'] ?? '.claude', '.credentials.json')],
          keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
          remedy: 'claude auth login',
          isUnseen: process.platform === 'darwin', // the keychain has it
        },
      ),
    settingsNames: settingsNames.claude,
    leavesOutSettings: true,
    folders: ({ cwd }) => claudeFolders(options, cwd),
    hosts: providerHosts(options.baseUrl, ['api.anthropic.com', 'console.anthropic.com', 'claude.ai']),
    limits: async () => limits.read(),
    readTranscript: async (nativeId, cwd) =>
      isUuid(nativeId)
        ? readClaudeTranscript(nativeId, cwd, { folder: options.env?.['CLAUDE_CONFIG_DIR'] })
        : [],
    eraseTranscript: async (nativeId, cwd) =>
      isUuid(nativeId)
        ? eraseClaudeTranscript(nativeId, cwd, { folder: options.env?.['CLAUDE_CONFIG_DIR'] })
        : undefined,
    async turn(request, io) {
      if (request.nativeId !== null && isUuid(request.nativeId)) {
        const result = await play(bin, options, request, { resume: request.nativeId }, io, limits);
        if (result !== 'unknown session') return result;
        io.report({
          type: 'notice',
          text: 'The agent no longer has this conversation; it continues from the stored transcript.',
        });
      }
      const prompt = promptWithTranscript(request.prompt, request.transcript, transcriptBytesMax);
      const result = await play(bin, options, { ...request, prompt }, { fresh: randomUUID() }, io, limits);
      return result === 'unknown session'
        ? { outcome: 'failed', text: '', error: 'claude could not begin a session.' }
        : result;
    },
  });
}

type Session = Parameters<typeof claudeArguments>[2];

async function play(
  bin: string,
  options: ClaudeOptions,
  request: TurnRequest,
  session: Session,
  io: TurnIO,
  limits: LimitsMemory,
): Promise<TurnResult | 'unknown session'> {
  const parser = claudeParser(io, limits);
  const project = await claudeProject(options, request);
  const memory = 'fresh' in session ? project.memory : '';
  let isAsked = false;
  const child = await startLines(
    bin,
    claudeArguments(options, request, session, project),
    {
      request,
      env: claudeEnvironment(options, request),
      onMessage(message, self) {
        if (message['type'] === 'control_request')
          return void answer(
            message,
            { options, reach: { cwd: request.cwd, files: request.files ?? [] } },
            self,
            io,
          );
        parser.take(message);
        if (message['type'] === 'result') self.finish();
      },
      interrupt(self) {
        isAsked = true;
        self.send({ type: 'control_request', request_id: randomUUID(), request: { subtype: 'interrupt' } });
      },
    },
    io,
  );
  child.send({
    type: 'user',
    message: {
      role: 'user',
      content: [
        ...(request.images ?? []).map(({ mimeType, data }) => ({
          type: 'image',
          source: { type: 'base64', media_type: mimeType, data },
        })),
        { type: 'text', text: memory + request.prompt },
      ],
    },
    parent_tool_use_id: null,
    session_id: '',
  });
  const ended = await child.done;
  const result = parser.result();
  const isUnknown =
    'resume' in session &&
    /No conversation found/i.test(
      `${ended.stderr} ${result === undefined ? '' : JSON.stringify(result['errors'] ?? '')}`,
    );
  if (isUnknown && !isAsked) return 'unknown session';
  if (result === undefined) return endWithoutResult(ended, 'claude', parser.text());
  return claudeResult(result, parser.text(), limits, { isInterrupted: isAsked, context: parser.context });
}

/**
 * The agent asks; whatever we do not know is answered with an error, for an unanswered question stops it for
 * good.
 */
async function answer(
  message: JsonObject,
  { options, reach }: { readonly options: ClaudeOptions; readonly reach: Reach },
  child: LineChild,
  io: TurnIO,
): Promise<void> {
  const request = objectAt(message, 'request');
  const id = textAt(message, 'request_id') ?? '';
  if (request['subtype'] !== 'can_use_tool') {
    return child.send({
      type: 'control_response',
      response: {
        subtype: 'error',
        request_id: id,
        error: `${String(request['subtype'])} is not supported`,
      },
    });
  }
  const tool = textAt(request, 'tool_name') ?? 'tool';
  const input = objectAt(request, 'input');
  const uses = claudeUse(tool, input);
  // attached files lie elsewhere, so it asks for them
  const isFree = readers.has(tool) && options.allow === undefined && isWithinReach(input, reach);
  const path = textAt(input, 'file_path') ?? textAt(input, 'notebook_path') ?? '';
  const isSettings = changers.has(tool) && isSettingsFile(resolve(reach.cwd, path));
  const decision: PermissionAnswer = isFree
    ? { allow: true }
    : await permit(
        isSettings
          ? { tool: settingsTool, title: textAt(request, 'description') ?? tool, input }
          : { tool, title: textAt(request, 'description') ?? tool, input, ...(uses && { uses }) },
        {
          allow: isSettings ? allowList(options).filter((name) => name === '*') : allowList(options),
          cwd: reach.cwd,
        },
        io,
      );
  const response = decision.allow
    ? { behavior: 'allow', updatedInput: input }
    : { behavior: 'deny', message: decision.message };
  child.send({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
}

const readers: ReadonlySet<string> = new Set(['Read', 'Glob', 'Grep']);
const changers: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);
/** The name that a change of the project's settings is asked for by: no list of tools permits it along. */
const settingsTool = 'ProjectSettings';

const isUuid = (id: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
