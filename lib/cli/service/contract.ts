import type { Layout } from '../../home/layout.js';

/** What a service runs: the same for every system's manager. */
export interface Service {
  /** `troupe`, `troupe-lab` for `--instance lab`, `troupe-1a2b3c4d` for any other home. */
  readonly name: string;
  readonly layout: Layout;
  /** Program and arguments, absolute, as they would be typed. */
  readonly command: readonly string[];
  /** PATH of the terminal that installs it, so that the service finds the same agent programs. */
  readonly path: string;
}

/** A system's own supervisor of processes, as data: what to write, and which of its commands to run. */
export interface ServiceManager {
  readonly called: 'systemd' | 'launchd';
  /** Absolute path of the definition of a service. */
  file(service: Service): string;
  /** What the manager adds so that it starts at login, and may not be there to take away. */
  link?(service: Service): string;
  /** Content of that file. */
  definition(service: Service): string;
  /** Commands, in order. */
  install(service: Service): readonly (readonly string[])[];
  uninstall(service: Service): readonly (readonly string[])[];
  status(service: Service): readonly string[];
  /** Shows what the service printed, and goes on showing it where `follow` is set. */
  logs(service: Service, follow: boolean): readonly string[];
  /** Where the manager cannot be asked at all: the words of its program that say so, and what to do. */
  readonly outOfReach?: { readonly words: RegExp; readonly remedy: string };
  /** What a person must still do, e.g. so that it runs before they log in. */
  readonly afterwards: string | undefined;
}
