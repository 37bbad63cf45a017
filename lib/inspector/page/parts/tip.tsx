/** The head of an arrow in a drawing; its colour is that of the class. */
export const Tip = ({ id, shape }: { readonly id: string; readonly shape?: string }) => (
  <marker
    id={id}
    class={shape ?? 'tip'}
    viewBox="0 0 8 8"
    refX="7"
    refY="4"
    markerWidth="8"
    markerHeight="8"
    markerUnits="userSpaceOnUse"
    orient="auto"
  >
    <path d="M0 0.8 L8 4 L0 7.2 z" />
  </marker>
);
