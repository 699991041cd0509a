/** The one client of the page: it speaks to the server that served the page, with the cookie that this server set. */
import { createClient } from '@witan/client'

/** Sends no token of its own. */
export const witan = createClient({ url: window.location.origin })
