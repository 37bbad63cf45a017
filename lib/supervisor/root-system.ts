import type { Logger } from 'pino';

export class RootSystem {
  state: 'booting' | 'running' | 'degraded' | 'draining' | 'stopped' = 'booting';
  private readonly down = new Map<string, string>();
  constructor(private readonly log: Logger) {}
  get reasons(): string[] { return [...this.down].map(([name, reason]) => `${name}: ${reason}`); }
  booted(): void { this.state = this.down.size === 0 ? 'running' : 'degraded'; }
  failed(name: string, reason: string): void { this.down.set(name, reason); this.log.warn({ subsystem: name, reason }, 'subsystem failed'); if (this.state === 'running') this.state = 'degraded'; }
  recovered(name: string): void { this.down.delete(name); if (this.state === 'degraded' && this.down.size === 0) this.state = 'running'; }
  draining(): void { this.state = 'draining'; }
  stopped(): void { this.state = 'stopped'; }
}
