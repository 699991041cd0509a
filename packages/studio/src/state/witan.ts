/** The one client of the page: it speaks to the server that served the page, with the cookie that this server set. */
import { createClient } from '@witan/client'
import { watchedFetch } from './connection.ts'

/** Sends no token of its own. */
export const witan = createClient({ url: window.location.origin, fetch: watchedFetch })
