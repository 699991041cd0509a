/** What a server or a command line needs besides the library: inspects agents and stores without a runtime. */

// agents before they are saved
export type { Inspected } from './agent/inspect.ts'
export { inspectAgent } from './agent/inspect.ts'
export { protocolProblems } from './agent/protocol/parse.ts'
export { listedByParents } from './agent/seed.ts'
export { withWrapped } from './agent/define.ts'

// the likely word for a misspelt one
export { nearest } from './agent/nearest.ts'

// stores that are not open
export { inspectStoreFile } from './store/drivers/sqlite-inspect.ts'
