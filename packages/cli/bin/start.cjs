// Leaves the old form of modules: an old Node cannot even read this line, and never gets here.
void import('./start.mjs')
