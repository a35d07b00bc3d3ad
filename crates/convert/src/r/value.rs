//! The model of R's values.

use std::sync::Arc;

use entasis::Buffer;

use super::Strings;

/// A value with its attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// The value without attributes.
    pub data: Data,
    /// The attributes, in order. Names are distinct.
    pub attributes: Attributes,
    /// The bit that marks objects of S4.
    pub is_s4: bool,
}

/// Attributes, in order; `None` for none.
#[allow(clippy::box_collection, reason = "most values have none, and a pointer is short")]
pub type Attributes = Option<Box<Vec<(String, Value)>>>;

/// A value without attributes. Two are equal if all bits are.
#[derive(Clone, Debug, Default)]
pub enum Data {
    /// `NULL`.
    #[default]
    Null,
    /// Logicals: 0, 1, or the least integer for NA.
    Logical(Vec<i32>),
    /// Integers; the least one is NA.
    Integer(Vec<i32>),
    /// Doubles, with the bits that they have in R.
    Double(Vec<f64>),
    /// Complex numbers: real and imaginary parts.
    Complex(Vec<[f64; 2]>),
    /// Bytes.
    Raw(Vec<u8>),
    /// Strings.
    Strings(Box<Strings>),
    /// A list.
    List(Vec<Value>),
    /// An expression vector.
    Expression(Vec<Value>),
    /// A symbol; an empty one for a missing argument.
    Symbol(String),
    /// A call, whose first item is the function.
    Call(Vec<Item>),
    /// A pairlist.
    Pairlist(Vec<Item>),
    /// The value of `...` in an environment.
    Dots(Vec<Item>),
    /// An environment.
    Environment(EnvironmentRef),
    /// A function: arguments (a pairlist or null), body, environment.
    Closure(Box<[Value; 3]>),
    /// A function of R itself, by its name.
    Primitive(String),
    /// An expression that was not evaluated, and the environment in which it will be.
    Promise(Box<[Value; 2]>),
    /// An external pointer, whose address is lost: tag, and protected value.
    Pointer(Box<[Value; 2]>),
    /// A weak reference.
    WeakReference,
    /// An object of S4 that is nothing but its attributes.
    S4,
}

/// An item of a call or a pairlist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// Its tag; empty for none.
    pub tag: String,
    /// Its value.
    pub value: Value,
}

/// Which environment it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentRef {
    /// The global environment.
    Global,
    /// The environment of the package base.
    Base,
    /// The empty environment.
    Empty,
    /// The namespace of a package.
    Namespace(String),
    /// The exports of a package on the search path, without `package:`.
    Package(String),
    /// One of [`Values::environments`].
    Number(usize),
}

/// An environment with its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Where names are looked up next; `None` for the empty environment.
    pub parent: Option<EnvironmentRef>,
    /// The values by name, in the order of the file.
    pub bindings: Vec<Binding>,
    /// Its attributes.
    pub attributes: Attributes,
    /// Whether bindings can neither be added nor removed.
    pub is_locked: bool,
    /// The bit that marks objects of S4.
    pub is_s4: bool,
}

/// A name in an environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binding {
    /// The name.
    pub name: String,
    /// The value; for an active binding the function.
    pub value: Value,
    /// Whether the value can't be changed.
    pub is_locked: bool,
    /// Whether the value is computed by a function whenever it is used.
    pub is_active: bool,
}

/// A value, and the environments that it refers to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The value.
    pub value: Value,
    /// The environments, which may refer to each other.
    pub environments: Vec<Environment>,
}

impl From<Data> for Value {
    fn from(data: Data) -> Self {
        Self { data, attributes: None, is_s4: false }
    }
}

impl Value {
    /// An attribute.
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        self.attributes().iter().find(|(of, _)| of == name).map(|(_, value)| value)
    }

    /// The attributes, in order.
    pub fn attributes(&self) -> &[(String, Value)] {
        self.attributes.as_ref().map_or(&[], |attributes| attributes)
    }

    /// Appends an attribute.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attributes.get_or_insert_default().push((name.to_owned(), value.into()));
        self
    }

    /// Adds the memory of all vectors, which stays where it is.
    pub(crate) fn into_memory(self, memory: &mut Vec<Arc<Buffer>>) {
        let of_attributes = self.attributes.into_iter().flat_map(|all| all.into_iter());
        of_attributes.for_each(|(_, value)| value.into_memory(memory));
        match self.data {
            Data::Logical(values) | Data::Integer(values) => memory.push(Arc::new(Buffer::of_vec(values))),
            Data::Double(values) => memory.push(Arc::new(Buffer::of_vec(values))),
            Data::Complex(values) => memory.push(Arc::new(Buffer::of_vec(values))),
            Data::Raw(values) => memory.push(Arc::new(Buffer::of_vec(values))),
            Data::Strings(strings) => memory.extend(strings.into_memory().map(Arc::new)),
            Data::List(values) => values.into_iter().for_each(|value| value.into_memory(memory)),
            _ => {}
        }
    }

    /// The strings, if it is a vector of these.
    pub fn strings(&self) -> Option<&Strings> {
        match &self.data {
            Data::Strings(strings) => Some(strings),
            _ => None,
        }
    }

    /// Whether a class is among those of the attribute `class`.
    pub fn inherits(&self, class: &str) -> bool {
        let classes = self.attribute("class").and_then(Value::strings);
        classes.is_some_and(|classes| classes.iter().any(|of| of == Some(class)))
    }

    /// The number of elements of a vector.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Data {
    /// The number of elements of a vector; 0 for other values.
    pub fn len(&self) -> usize {
        match self {
            Self::Logical(values) | Self::Integer(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Complex(values) => values.len(),
            Self::Raw(values) => values.len(),
            Self::Strings(values) => values.len(),
            Self::List(values) | Self::Expression(values) => values.len(),
            _ => 0,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of R for the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Logical(_) => "logical",
            Self::Integer(_) => "integer",
            Self::Double(_) => "double",
            Self::Complex(_) => "complex",
            Self::Raw(_) => "raw",
            Self::Strings(_) => "character",
            Self::List(_) => "list",
            Self::Expression(_) => "expression",
            Self::Symbol(_) => "symbol",
            Self::Call(_) => "language",
            Self::Pairlist(_) => "pairlist",
            Self::Dots(_) => "...",
            Self::Environment(_) => "environment",
            Self::Closure(_) => "closure",
            Self::Primitive(_) => "builtin",
            Self::Promise(_) => "promise",
            Self::Pointer(_) => "externalptr",
            Self::WeakReference => "weakref",
            Self::S4 => "S4",
        }
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) | (Self::WeakReference, Self::WeakReference) | (Self::S4, Self::S4) => {
                true
            }
            (Self::Logical(a), Self::Logical(b)) | (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => {
                bytemuck::cast_slice::<_, u64>(a) == bytemuck::cast_slice::<_, u64>(b)
            }
            (Self::Complex(a), Self::Complex(b)) => {
                bytemuck::cast_slice::<_, u64>(a) == bytemuck::cast_slice::<_, u64>(b)
            }
            (Self::Raw(a), Self::Raw(b)) => a == b,
            (Self::Strings(a), Self::Strings(b)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Expression(a), Self::Expression(b)) => a == b,
            (Self::Symbol(a), Self::Symbol(b)) | (Self::Primitive(a), Self::Primitive(b)) => a == b,
            (Self::Call(a), Self::Call(b))
            | (Self::Pairlist(a), Self::Pairlist(b))
            | (Self::Dots(a), Self::Dots(b)) => a == b,
            (Self::Environment(a), Self::Environment(b)) => a == b,
            (Self::Closure(a), Self::Closure(b)) => a == b,
            (Self::Promise(a), Self::Promise(b)) | (Self::Pointer(a), Self::Pointer(b)) => a == b,
            _ => false,
        }
    }
}
