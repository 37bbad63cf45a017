// Members of the object types within exported declarations (parts of unions, parameters, answers) that have no sentence:
// api-extractor marks those of interfaces and classes themselves, and looks no deeper.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

/** `files`: the declarations of each entry. Answers for each what is bare, `Store.write.group.ops`, sorted. */
export function bareMembers(files) {
  const options = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: ['node'],
    skipLibCheck: true,
  };
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  return files.map((file) => {
    const declarations = checker
      .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
      .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
      .flatMap(({ declarations: found = [] }) => found)
      // Values are what their initial value makes them: nothing was written that could have a sentence
      .filter((node) => node.getSourceFile().fileName.startsWith(dist) && !ts.isVariableDeclaration(node));
    return [...new Set(declarations.flatMap((node) => bareIn(node, [], '')))].sort((one, other) =>
      one < other ? -1 : 1,
    );
  });
}

/** `said`: the sentences of all that it stands in. */
function bareIn(node, path, said) {
  const here = node.name && ts.isIdentifier(node.name) ? [...path, node.name.text] : path;
  const sentences = `${said}${commentOf(node)}`;
  const isRecord = (member) => ts.isIndexSignatureDeclaration(member);
  // A single member is what the sentence of the whole is about
  const members =
    ts.isTypeLiteralNode(node) && node.members.length > 1
      ? node.members.filter((member) => !isRecord(member))
      : [];
  const bare = members.filter(
    (member) =>
      !isDiscriminant(member) &&
      commentOf(member) === '' &&
      !sentences.includes(`\`${member.name?.getText()}\``),
  );
  const below = [];
  ts.forEachChild(node, (child) => {
    const isInferred = ts.isFunctionDeclaration(node) && child === node.type;
    const isPattern = ts.isConditionalTypeNode(node) && child === node.extendsType;
    if (!isInferred && !isPattern) below.push(...bareIn(child, here, sentences));
  });
  const part = partOf(node);
  const isPartSaid = part !== undefined && commentOf(part) !== '';
  return [...(isPartSaid ? [] : bare.map(({ name }) => [...here, name?.getText()].join('.'))), ...below];
}

/** The part of a union that it is the shape of: itself, or what it is joined with (`({…} & Stamp)`). */
const partOf = (node) =>
  ts.isUnionTypeNode(node.parent)
    ? node
    : ts.isIntersectionTypeNode(node.parent) || ts.isParenthesizedTypeNode(node.parent)
      ? partOf(node.parent)
      : undefined;

/** The comment right before it; of a part of a union, before its bar. */
function commentOf(node) {
  const parts = node.parent && ts.isUnionTypeNode(node.parent) ? node.parent.types : [];
  const before = parts[parts.indexOf(node) - 1];
  const start = before?.end ?? (parts.length > 0 ? node.parent.getFullStart() : node.getFullStart());
  const text = node.getSourceFile().text.slice(start, node.getStart());
  return text.includes('/**') ? text : '';
}

/** `type: 'operator'`: what that part of the union is. */
const isDiscriminant = ({ type }) => type !== undefined && ts.isLiteralTypeNode(type);
