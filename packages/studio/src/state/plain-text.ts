/** Words without the marks of Markdown, for lines where only words stand. */

const marks: readonly (readonly [RegExp, string])[] = [
  [/!?\[([^\][]{0,200})\]\([^()\s]{0,400}\)/g, '$1'],
  [/(`{1,3})(?:\w+ )?([^`]+)\1/g, '$2'],
  [/(\*\*\*|\*\*|__|~~)(?=\S)([^*_~]+?)(?<=\S)\1/g, '$2'],
  [/(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])/g, '$1'],
  [/(?<![\w_])_(?=\S)([^_]+?)(?<=\S)_(?![\w_])/g, '$1'],
  [/^(?:#{1,6}|[-*+>])\s+(?=\S)/, ''],
]

/** The words of a line as they are read. JSON and code stay as they are. */
export function plainText(line: string): string {
  if (/^(?:[\w-]+ )?\{|^\[\s*["{[]/.test(line)) return line
  return marks
    .reduce((text, [mark, words]) => text.replace(mark, words), line)
    .replace(/\s+/g, ' ')
    .trim()
}
