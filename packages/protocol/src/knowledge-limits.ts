/** What holds of knowledge where nothing else is said. */

/** How many passages a search finds for an agent that does not say it. */
export const passagesByDefault = 6
