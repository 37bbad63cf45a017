/** Stands for the view. */
export function RunsPage(_props: { readonly id: string | undefined }) { return <section class="view"><h1 id="runs-title">Runs</h1></section>; }
