import type { ComponentChildren } from 'preact';
import type { Zoom } from './zoom.js';

/** Larger, smaller, all of it, and where it is: the size of a drawing by buttons. */
export const ZoomButtons = ({
  zoom: { by, fit, home },
  label,
  children,
}: {
  readonly zoom: Zoom;
  readonly label: string;
  /** Further buttons. */
  readonly children?: ComponentChildren;
}) => (
  <span class="zoom" role="group" aria-label={label}>
    <button type="button" class="quiet" aria-label="Smaller" onClick={() => by(0.8)}>
      −
    </button>
    <button type="button" class="quiet" aria-label="Larger" onClick={() => by(1.25)}>
      +
    </button>
    <button type="button" class="quiet" onClick={fit}>
      All of it
    </button>
    <button type="button" class="quiet" onClick={home}>
      Where it is
    </button>
    {children}
  </span>
);
