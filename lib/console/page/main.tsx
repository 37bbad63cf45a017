import { render } from 'preact';
import { enter } from '../../page/enter.js';
import { App } from './app.js';
import { begin } from './place.js';

/** The console begins here: who asks, then where in it one is, then what there is to see. */
const page = document.getElementById('page');
if (page === null) throw new Error('The shell has no place for the page.');
begin();
render(<App />, page);
void enter();
