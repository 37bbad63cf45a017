import type { EngineModel } from '../engine.js';

/** What the settings of an endpoint say. */
export interface OpenAiOptions {
  /** Exact string in the API. */
  readonly name: string;
  /** `http://127.0.0.1:11434/v1`: all that is ever called. */
  readonly baseUrl: string;
  /** Name of the gateway's own environment variable that holds the key; without it none is sent. */
  readonly apiKeyEnv?: string;
  /** Model of sessions that name none. Default: the first. */
  readonly model?: string;
  /** What may be chosen. An endpoint of this machine may be asked instead. */
  readonly models?: readonly (string | EngineModel)[];
  /** Levels of `reasoning_effort` that may be chosen. */
  readonly efforts?: readonly string[];
  /** Level of sessions that name none. Default: the endpoint's. */
  readonly effort?: string;
  /** Said to the model before everything else. */
  readonly instructions?: string;
  /** Which of the gateway's tools its model sees; false: none. Default: all. */
  readonly tools?: boolean | readonly string[];
  /** false: pictures are named to its model, not shown. Absent: they are shown, and left out where it refuses. */
  readonly seesImages?: boolean;
  /** Answers of the model in one turn, each but the last with tool calls. Default 30. */
  readonly roundsMax?: number;
  /** For what a turn cost; without it no cost is told. */
  readonly pricesUsdPerMillionTokens?: Prices;
  /** Before a failed request is tried again, which happens twice. Default 1 s. */
  readonly retryMs?: number;
}

export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
}
