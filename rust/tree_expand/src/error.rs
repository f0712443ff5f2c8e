//! Everything that can be wrong with what a caller hands to the core.

/// Why the core refused its input. The message says what was wrong, its value, and what would be
/// right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end inside the head of a packed tree.
    #[error("a packed tree has at least {least} bytes, this has {found}")]
    TooShort {
        /// Bytes of the head.
        least: usize,
        /// Bytes given.
        found: usize,
    },
    /// The bytes do not start as a packed tree does.
    #[error("a packed tree starts with the bytes {right:?}, this with {found:?}")]
    Magic {
        /// The bytes that every packed tree starts with.
        right: [u8; 8],
        /// The bytes found.
        found: [u8; 8],
    },
    /// The head promises another size.
    #[error("this packed tree should have {right} bytes by its head and has {found}")]
    Size {
        /// Bytes by the head.
        right: u128,
        /// Bytes given.
        found: usize,
    },
    /// A tree without a root.
    #[error("a tree has at least one node, the root; this has none")]
    NoNodes,
    /// More nodes than positions can name.
    #[error("a tree has at most 4294967294 nodes, this has {0}")]
    TooManyNodes(usize),
    /// Columns of different length.
    #[error("the column {column} should have {right} elements and has {found}")]
    ColumnLength {
        /// Name of the column.
        column: &'static str,
        /// Elements that it should have.
        right: usize,
        /// Elements that it has.
        found: usize,
    },
    /// The root names another node as its parent.
    #[error("the root is its own parent, 0; this one names {0}")]
    RootParent(u32),
    /// A parent that does not come before its child.
    #[error("node {node} names {parent} as its parent; a parent comes before its children")]
    ParentOrder {
        /// Position of the child.
        node: u32,
        /// The parent it names.
        parent: u32,
    },
    /// Nodes that are not in preorder.
    #[error(
        "node {node} names {parent} as its parent, whose subtree ended before; \
         nodes are in document order, every subtree one range"
    )]
    NotPreorder {
        /// Position of the child.
        node: u32,
        /// The parent it names.
        parent: u32,
    },
    /// Tokens where there is no text.
    #[error("node {node} has {tokens} tokens and no text; a node without text has 0")]
    TokensWithoutText {
        /// Position of the node.
        node: u32,
        /// Its token count.
        tokens: u32,
    },
    /// A page range that ends before it starts, or has one end only.
    #[error(
        "node {node} is on pages {start} to {end}; \
         pages count from 1 and do not go back, 0 to 0 is none"
    )]
    Pages {
        /// Position of the node.
        node: u32,
        /// First page.
        start: u32,
        /// Last page.
        end: u32,
    },
    /// The text of a document is not UTF-8.
    #[error("the text of the tree is not UTF-8 from byte {0} on")]
    NotUtf8(usize),
    /// A range of text that ends before it starts, or after the text.
    #[error("{what} {index} is the text from byte {start} to {end}; the text has {bytes} bytes")]
    TextRange {
        /// `node` or `sentence`.
        what: &'static str,
        /// Position of the node or number of the sentence.
        index: u32,
        /// First byte.
        start: u32,
        /// Byte after the last.
        end: u32,
        /// Bytes of the whole text.
        bytes: usize,
    },
    /// A range that cuts a character in two.
    #[error("{what} {index} starts or ends inside a character, at byte {at}")]
    CharBoundary {
        /// `node` or `sentence`.
        what: &'static str,
        /// Position of the node or number of the sentence.
        index: u32,
        /// The offset.
        at: u32,
    },
    /// Ranges out of document order.
    #[error("{what} {index} starts at byte {start}, before {before}, where the one before it ends")]
    TextOrder {
        /// `node` or `sentence`.
        what: &'static str,
        /// Position of the node or number of the sentence.
        index: u32,
        /// First byte.
        start: u32,
        /// End of the range before.
        before: u32,
    },
    /// Offsets in code points that do not name the place of the offsets in bytes.
    #[error(
        "node {node} is the characters {start} to {end}; \
         by its bytes it is {right_start} to {right_end}"
    )]
    CharRange {
        /// Position of the node.
        node: u32,
        /// First code point by the column.
        start: u32,
        /// Code point after the last by the column.
        end: u32,
        /// First code point by the text.
        right_start: u32,
        /// Code point after the last by the text.
        right_end: u32,
    },
    /// A sentence that is not inside the own text of one node.
    #[error("sentence {sentence}, bytes {start} to {end}, is not inside the text of one node")]
    SentenceOutside {
        /// Number of the sentence.
        sentence: u32,
        /// First byte.
        start: u32,
        /// Byte after the last.
        end: u32,
    },
    /// A hit on a node that is not there.
    #[error(
        "there is no node {node}; the tree has {nodes} nodes, 0 to {last}",
        last = .nodes.saturating_sub(1)
    )]
    NoSuchNode {
        /// The position asked for.
        node: u32,
        /// Nodes of the tree.
        nodes: usize,
    },
    /// A hit on a document that was not given.
    #[error("a hit names document {document}; {documents} documents were given")]
    NoSuchDocument {
        /// Index asked for.
        document: usize,
        /// Documents given.
        documents: usize,
    },
    /// A number that is no context mode.
    #[error(
        "context mode {0} is unknown; \
         there are 1 NONE, 2 TREE, 3 SENTENCE_WINDOW, 4 LINEAR and 5 PARENT"
    )]
    UnknownMode(i32),
    /// An answer that is larger than a message may be.
    #[error("the answer would have {bytes} bytes or more; the most is {max_bytes}")]
    ReplyTooLarge {
        /// Bytes reached.
        bytes: usize,
        /// Most bytes.
        max_bytes: usize,
    },
    /// A dimension that no vector has here.
    #[error("the dimension is {0}; it is 1 to 65536")]
    Dimension(usize),
    /// An index for which a setting is 0.
    #[error("proposal_cost may be 0; seal_rows and threads are at least 1")]
    IndexSettings,
    /// Another number of vectors than nodes.
    #[error("{nodes} nodes of {dimension} dimensions have {right} numbers and come with {found}",
        right = .nodes.saturating_mul(*.dimension))]
    VectorCount {
        /// Nodes given.
        nodes: usize,
        /// Elements of a vector.
        dimension: usize,
        /// Numbers given.
        found: usize,
    },
    /// Query vectors that are not whole.
    #[error("queries have {found} numbers; that is no multiple of the dimension, {dimension}")]
    QueryLength {
        /// Elements of a vector.
        dimension: usize,
        /// Numbers given.
        found: usize,
    },
    /// A vector without a direction.
    #[error("vector {0} is zero; it has no direction to compare")]
    VectorZero(usize),
    /// A vector with elements that are no numbers.
    #[error("vector {0} is not finite: an element is NaN or infinite, or its square is")]
    VectorNotFinite(usize),
    /// Nodes out of order, or twice.
    #[error("node {node} comes after node {before}; the nodes of a document are ascending")]
    NodeOrder {
        /// The node.
        node: u32,
        /// The node before it.
        before: u32,
    },
    /// A document that is in the index already.
    #[error("document {0} is in the index already; a new version has a key of its own")]
    DocumentTwice(u64),
    /// A search for no hits.
    #[error("the limit is 0; it is at least 1")]
    Limit,
    /// A threshold that compares with nothing.
    #[error("the threshold is not a number; similarities are 0 to 1")]
    Threshold,
    /// Another number of allowed nodes than of documents they are in.
    #[error("{nodes} nodes are allowed, of {documents} documents; there is one document for each")]
    AllowedCount {
        /// Nodes given.
        nodes: usize,
        /// Document keys given.
        documents: usize,
    },
    /// Allowed nodes out of order.
    #[error(
        "allowed node {node} of document {document} comes after node {before} of document {of}; \
         pairs of document and node are ascending"
    )]
    AllowedOrder {
        /// Key of the document.
        document: u64,
        /// The node.
        node: u32,
        /// The node before it.
        before: u32,
        /// Key of that node's document.
        of: u64,
    },
    /// A segment with a name that is no file name.
    #[error("a segment cannot have the name {0:?}; it is part of a file name, without a slash")]
    SegmentName(String),
    /// A segment file that cannot be trusted.
    #[error("the segment {path}: {what}")]
    SegmentFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// A segment file that could not be written.
    #[error("the segment {path} could not be written: {error}")]
    SegmentWrite {
        /// The file.
        path: String,
        /// Why.
        error: Failure,
    },
    /// Rows of a segment that could not be read.
    #[error("the rows of the segment {path} could not be read: {error}")]
    SegmentRead {
        /// The file.
        path: String,
        /// Why.
        error: Failure,
    },
    /// The graph library failed.
    #[error("the graph of a segment: {0}")]
    Graph(String),
    /// Bytes that are no whole numbers.
    #[error("{what} have {found} bytes; each takes {size}")]
    PartialNumber {
        /// What the bytes are.
        what: &'static str,
        /// Bytes of a number.
        size: usize,
        /// Bytes given.
        found: usize,
    },
    /// Another number of documents than the hits name.
    #[error("the hits are in {right} documents; {found} documents were given")]
    DocumentCount {
        /// Distinct documents of the hits.
        right: usize,
        /// Documents given.
        found: usize,
    },
}

/// What the operating system refused to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// Number of the error, where there is one.
    pub code: Option<i32>,
    /// What it says.
    pub text: String,
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self {
            code: error.raw_os_error(),
            text: error.to_string(),
        }
    }
}

/// Result of the core's fallible calls.
pub type Result<T> = std::result::Result<T, Error>;
