/** Variables of the environment in texts of a configuration: `${NAME}`. */
import { WitanError } from '@witan/protocol'

/** `${NAME}`, and the forms of other clients and of shells, which mean something else there. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]{0,199})\}|\$\{(env:|input:|[A-Za-z_][A-Za-z0-9_]*:?[-=?+])[^}]*\}/g

/** The text with the environment's values. Throws `CONFIG_INVALID` for a variable that is not set, with its name and the path, and never a value. */
export function filledIn(text: string, path: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(reference, (whole, name: string | undefined, other: string | undefined) => {
    if (name === undefined) throw otherForm(path, other ?? whole)
    const value = Object.hasOwn(env, name) ? (env[name] ?? '') : ''
    if (value !== '') return value
    const detail = `\`${path}\` names the variable ${name} of the environment, which is not set.`
    throw new WitanError('CONFIG_INVALID', detail, { path, hint: `Set ${name}, or leave it out of the configuration.` })
  })
}

function otherForm(path: string, form: string): WitanError {
  const what = form === 'env:' || form === 'input:' ? `\`\${${form}…}\`` : 'a default for a variable'
  return new WitanError('CONFIG_INVALID', `\`${path}\` has ${what}, which is not supported.`, {
    path,
    hint: `Write \`\${NAME}\`, and set the variable in the environment.`,
  })
}
