/** A support desk: hand-overs that return, a loop of draft and review, and three readers at once. */
import { agents } from './agents.ts'

export default { store: { url: 'file:./.witan/support-desk.db' }, agents }
