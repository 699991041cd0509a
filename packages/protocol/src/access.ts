/** Who may do what: the roles, the table of routes, and what a caller of agents reads of them. */

export type { AgentView } from './agent.ts'
export type { CallerRow } from './check-report.ts'
export { callerWords, forWhomWords } from './caller-words.ts'
export type { Reach, Role, RouteAccess } from './route-access.ts'
export { accessOf, mayReach, roles, routeAccess } from './route-access.ts'
