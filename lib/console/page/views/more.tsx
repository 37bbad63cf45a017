import { linkTo } from '../place.js';
import type { View } from '../view-list.js';

/** On a phone: the views that have no place at the bottom. */
export function MorePage({ views }: { readonly views: readonly Pick<View, 'to' | 'name' | 'icon'>[] }) {
  return (
    <div class="view">
      <h1>More</h1>
      <ul class="panel rows big">
        {[
          ...views.map(({ to, name, icon }) => ({ href: linkTo(to), name, icon })),
          { href: '/inspect', name: 'Inspector: what is underneath', icon: layers },
          { href: '/docs', name: 'Documentation', icon: page },
        ].map(({ href, name, icon }) => (
          <li key={href}>
            <a href={href}>
              <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
                <path d={icon} />
              </svg>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

const layers = 'M9 2.500L16 6 9 9.500 2 6zM2 9.500L9 13l7-3.500M2 13l7 3.500L16 13';
const page = 'M4 2.500h10v13H4zM6.500 6h5M6.500 9h5M6.500 12h3';
