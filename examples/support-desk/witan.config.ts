/** A support desk: hand-overs that return and one for good, an agent as a tool, a loop of draft and review, three readers at once. */
import { agents } from './agents.ts'

export default { store: { url: 'file:./.witan/support-desk.db' }, agents }
